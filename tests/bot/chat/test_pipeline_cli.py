from __future__ import annotations

import sys

import pytest

from bot.chat.pipeline_cli import MAX_TEXT, PipelineCli
from core.domain import TargetGroup
from core.errors import BadInput, Unavailable


def program(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


async def test_a_text_never_becomes_an_option() -> None:
    echo = "import sys; sys.exit(' '.join(sys.argv[1:]))"
    with pytest.raises(Unavailable, match="kb search --json --group women -- --help me"):
        await PipelineCli(program(echo)).evidence("--help me", TargetGroup.WOMEN)


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
