from __future__ import annotations

import sys

import pytest

from bot.pipeline_cli import MAX_TEXT, PipelineCli
from core.domain import TargetGroup
from core.errors import BadInput, Unavailable


def program(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


async def test_a_text_goes_in_by_a_pipe_and_stands_in_no_argument() -> None:
    echo = "import sys; sys.exit(f'{sys.argv[1:]} {sys.stdin.read()}')"
    with pytest.raises(Unavailable, match=r"\['kb', 'search', '--json', '--group', 'women', '-'\] --help me"):
        await PipelineCli(program(echo)).evidence("--help me", TargetGroup.WOMEN)


async def test_a_child_knows_no_token_and_no_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    for setting in ("TRIAGE__REREAD", "GUARD__REREAD"):
        monkeypatch.delenv(f"REJOINDER_{setting}")
    for name in ("DESK__TOKENS", "SLACK__APP_TOKEN", "LEDGER__URL", "CHAT__MODEL"):
        monkeypatch.setenv(f"REJOINDER_{name}", "none")
    known = "import os, sys; sys.exit(str([name for name in os.environ if name.startswith('REJOINDER_')]))"
    with pytest.raises(Unavailable, match=r"answered: \['REJOINDER_CHAT__MODEL'\]"):
        await PipelineCli(program(known)).draft("a post", None)


async def test_a_child_that_takes_too_long_is_ended() -> None:
    with pytest.raises(Unavailable, match=r"within 0 s"):
        await PipelineCli(program("import time; time.sleep(60)"), timeout_s=0.3).evidence("query", None)


async def test_a_failure_is_told_by_its_last_line() -> None:
    code = "import sys; print('Traceback', file=sys.stderr); sys.exit('Error: the weights are not here')"
    with pytest.raises(Unavailable, match="answered: the weights are not here"):
        await PipelineCli(program(code)).draft("a post", None)


@pytest.mark.parametrize("text", ["", "  ", "x" * (MAX_TEXT + 1)])
async def test_nothing_and_too_much_are_refused(text: str) -> None:
    with pytest.raises(BadInput):
        await PipelineCli(program("")).draft(text, None)
