from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.stats import figures, in_words, period, picture, table
from core.domain import CaseState, Intent, TargetGroup, now
from core.errors import BadInput
from ledger import Ledger
from ledger.statistics import CountedDecision
from tests.bot.samples import DRAFT, add_pending, post


async def fill(ledger: Ledger) -> None:
    for number in range(6):
        key = await add_pending(ledger, post(number), group=TargetGroup.WOMEN if number == 4 else TargetGroup.MIGRANTS)
        case, due = await ledger.cases.get(key), now() + timedelta(minutes=1)
        if number in (0, 1):
            text = DRAFT if number == 0 else "A reply. Two."
            await ledger.decisions.approve(key, case.version, "ana", text, "fine", due)
        elif number == 2:
            await ledger.decisions.reject(key, case.version, "ana", "tone", due)
        elif number == 5:
            await ledger.decisions.dismiss(key, case.version, "ana", "not_hateful", due)
        elif number == 3:
            case = await ledger.decisions.reject(key, case.version, "ana", "tone", due)
            await ledger.decisions.undo(key, case.version, "ana")


async def test_the_figures_of_a_period_leave_undone_decisions_out(ledger: Ledger) -> None:
    await fill(ledger)
    day = await figures(ledger, timedelta(days=1))
    assert (day.received, day.pending, day.approved, day.edited, day.rejected, day.dismissed) == (6, 2, 1, 1, 1, 1)
    assert day.by_group[TargetGroup.MIGRANTS].decided == 3
    assert day.by_intent[Intent.INFORMATIVE].rate == pytest.approx(2 / 3)
    words = in_words(day)
    assert (
        "6 received, 1 approved as drafted, 1 edited, 1 rejected, 1 dismissed as not hateful; 2 are pending now"
        in words
    )
    assert "migrants 67 % of 3" in words
    assert picture(day).startswith(b"\x89PNG")


async def test_an_empty_period_has_words_and_no_division_by_zero(ledger: Ledger) -> None:
    hour = await figures(ledger, timedelta(hours=1))
    assert hour.median_age is None
    assert "No decisions." in in_words(hour)


@pytest.mark.parametrize(
    ("text", "length"), [("24h", timedelta(days=1)), (" 7D ", timedelta(days=7)), ("2w", timedelta(14))]
)
def test_a_period_is_read(text: str, length: timedelta) -> None:
    assert period(text) == length


@pytest.mark.parametrize("text", ["", "7", "d", "0d", "-1d", "9999w", "1y", "7dd", "١d٢"])
def test_what_is_no_period_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is no period"):
        period(text)


def test_the_table_runs_nothing_in_a_spreadsheet() -> None:
    moment = datetime(2026, 11, 1, tzinfo=UTC)
    row = CountedDecision("forum/1", "forum", (TargetGroup.JEWS,), Intent.POSITIVE, CaseState.REJECTED, False,
                      "=cmd()", "+1 fine", moment, moment)  # fmt: skip
    lines = table([row]).decode().splitlines()
    assert lines[1].startswith("forum/1,jews,positive,rejected,False,'=cmd(),'+1 fine,")
