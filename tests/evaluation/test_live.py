"""What moderators made of the drafts, counted from a ledger."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.domain import now
from evaluation.command import evaluate
from evaluation.live import changed_share, live
from ledger import Ledger
from rejoinder.cli import Program
from rejoinder.commands.ledger import migrate
from tests.bot.samples import DRAFT, add_pending, post
from tests.new_ledger import KEY, new_sqlite

PROGRAM = Program(commands=[evaluate, migrate])


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    opened = await Ledger.open(new_sqlite(tmp_path), KEY)
    yield opened
    await opened.close()


async def decide(ledger: Ledger, number: int, verdict: str, text: str = DRAFT) -> None:
    key = await add_pending(ledger, post(number))
    version = (await ledger.cases.get(key)).version
    later = now() + timedelta(minutes=1)
    if verdict == "approve":
        why = "approved" if text == DRAFT else "edited"
        await ledger.decisions.approve(key, version, "ana", text, why, later)
    elif verdict == "dismiss":
        await ledger.decisions.dismiss(key, version, "ana", "not_hateful", later)
    else:
        await ledger.decisions.reject(key, version, "ana", verdict, later)


async def test_decisions_are_counted_by_what_they_were_on(ledger: Ledger) -> None:
    await decide(ledger, 1, "approve")
    await decide(ledger, 2, "approve", DRAFT.replace("newcomers", "everybody"))
    await decide(ledger, 3, "tone: too stiff")
    await decide(ledger, 4, "dismiss")
    text = "\n".join((await live(ledger, now() - timedelta(days=1))).lines())
    assert "3 decisions on drafts; 1 posts dismissed" in text
    assert "| all | 3 | 67% (2 of 3) | 50% (1 of 2) | 3% |" in text
    assert "| tone | 1 |" in text
    for row in ("| migrants | 3 |", "| en | 3 |", "| model | 3 |", "| informative | 3 |"):
        assert row in text
    assert "Too few decisions" in text


async def test_a_fall_of_acceptance_is_called_drift(ledger: Ledger) -> None:
    for number in range(12):
        await decide(ledger, number, "approve" if number < 6 else "misread")
    text = "\n".join((await live(ledger, now() - timedelta(days=1))).lines())
    assert "100% (6 of 6) of the first half, 0% (0 of 6) of the second" in text
    assert "it drifts" in text


async def test_an_empty_period_says_so(ledger: Ledger) -> None:
    assert "0 decisions on drafts" in "\n".join((await live(ledger, now())).lines())


def test_the_share_of_changed_words() -> None:
    assert changed_share("a b c d", "a b c d") == 0
    assert changed_share("a b c d", "a x c") == pytest.approx(2 / 4)
    assert changed_share("", "") == 0


def test_the_command_reads_the_ledger_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_DATA_DIR", str(tmp_path))
    out = tmp_path / "live.md"
    made = CliRunner().invoke(PROGRAM, ["migrate"])
    assert made.exit_code == 0, made.output
    result = CliRunner().invoke(PROGRAM, ["evaluate", "live", "--since", "8w", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert out.read_text() == result.stdout
    wrong = CliRunner().invoke(PROGRAM, ["evaluate", "live", "--since", "yesterday"])
    assert wrong.exit_code == 1 and "is no period" in wrong.output
