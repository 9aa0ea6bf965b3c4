"""What closed cases teach: examples, preferences, and verdicts on the parts of a draft in words on file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.reasons import REASONS
from core.domain import (
    AttackKind,
    Candidate,
    Case,
    CaseState,
    Claim,
    CounterClaim,
    Draft,
    Grounding,
    Intent,
    Origin,
)
from core.errors import BadInput
from ledger.decided_cases import DecidedCase
from tests.factories import START, make_draft, make_evidence, make_post, make_triage
from training.decisions.datasheet import data_sheet
from training.decisions.gathering import gather, write
from training.decisions.masking import masked
from training.decisions.reading import ABOUT_THE_POST, BLAMED, lesson_of
from training.decisions.records import EXAMPLES, VERDICTS, Outcome, Verdict, read_lines

COUNTERS = ("Zorblaxians pay their way.", "Zorblaxians are neighbours.")
FACTS = (make_evidence("f1", "A study found ten bridges."), make_evidence("f2", "The charter protects all."))
GROUNDING = Grounding(
    evidence=FACTS,
    claims=(
        Claim(
            id="c1",
            kind=AttackKind.CLAIM,
            gist="they ruin everything",
            counter_claims=tuple(CounterClaim(intent=Intent.INFORMATIVE, text=text) for text in COUNTERS),
        ),
    ),
)


def on_file(number: int, counter: int, fact: int, intent: Intent = Intent.INFORMATIVE) -> Draft:
    text = f"{COUNTERS[counter]} {FACTS[fact].text}"
    shown = Candidate(text=text, origin=Origin.COMPOSER, checks=(), claim="c1", facts=(FACTS[fact].id,))
    return make_draft(number=number, text=text, intent=intent).model_copy(update={"candidates": (shown,)})


def decided(
    *drafts: Draft, final: str | None = None, why: str = "", who: str = "ana", number: int = 1, **more: Any
) -> DecidedCase:
    state = CaseState.RELEASED if final else CaseState.REJECTED
    case = Case(
        post=make_post(number, "@troll says Zorblaxians ruin everything, see https://example.org/x"), state=state,
        version=5, received_at=START, updated_at=START, triage=make_triage(), grounding=GROUNDING,
        drafts=drafts or (on_file(1, 0, 0),), final_text=final, decided_by=who, decided_why=why, **more,
    )  # fmt: skip
    return DecidedCase(f"case-{number}", case, who, ("bo",) * (len(case.drafts) - 1))


def parts(verdict: Verdict) -> tuple[bool | None, bool | None, bool | None]:
    return verdict.claim_approved, verdict.counter_approved, verdict.fact_approved


def test_an_approved_draft_is_an_example_and_a_yes_to_all_its_parts() -> None:
    draft = on_file(1, 0, 0)
    lesson = lesson_of(decided(draft, final=draft.text))
    assert [(each.reply, each.outcome) for each in lesson.examples] == [(draft.text, Outcome.APPROVED)]
    assert [parts(verdict) for verdict in lesson.verdicts] == [(True, True, True)]
    assert lesson.preferences == ()


def test_an_edit_is_preferred_to_the_draft_and_says_which_part_was_kept() -> None:
    draft, final = on_file(1, 0, 0), f"{COUNTERS[0]} They built the school."
    lesson = lesson_of(decided(draft, final=final))
    assert [(each.chosen, each.rejected) for each in lesson.preferences] == [(final, draft.text)]
    assert [parts(verdict) for verdict in lesson.verdicts] == [(True, True, False)]


@pytest.mark.parametrize(
    ("why", "blamed"),
    [
        ("evidence", (None, None, False)),
        ("misread", (False, None, None)),
        ("tone: too stiff", (None, False, None)),
        ("in my own words", (False, False, False)),
    ],
)
def test_a_rejection_blames_what_its_reason_names(why: str, blamed: tuple[bool | None, ...]) -> None:
    assert [parts(verdict) for verdict in lesson_of(decided(why=why)).verdicts] == [blamed]


@pytest.mark.parametrize("why", ["not_hateful", "handled", "amplifies: old"])
def test_a_rejection_for_what_the_post_is_says_nothing_of_the_draft(why: str) -> None:
    lesson = lesson_of(decided(why=why))
    assert not lesson.verdicts and not lesson.rejected


def test_the_draft_that_was_sent_back_is_worse_than_what_was_sent() -> None:
    first, second = on_file(1, 0, 0), on_file(2, 0, 1)
    lesson = lesson_of(decided(first, second, final=second.text))
    assert [(each.chosen, each.rejected) for each in lesson.preferences] == [(second.text, first.text)]
    # Only the fact changed between the two.
    assert [(parts(each), each.rater) for each in lesson.verdicts] == [
        ((None, None, False), "bo"),
        ((True, True, True), "ana"),
    ]


def test_another_intent_asked_for_says_nothing_of_the_first_draft() -> None:
    first, second = on_file(1, 0, 0, Intent.POSITIVE), on_file(2, 0, 1)
    lesson = lesson_of(decided(first, second, final=second.text))
    assert lesson.preferences == () and len(lesson.verdicts) == 1


def test_a_reply_taken_back_teaches_nothing() -> None:
    lesson = lesson_of(decided(final="A reply.", retracted_at=START))
    assert not lesson.examples and not lesson.verdicts


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("ask @some.one or a@b.org", "ask @user or [address]"),
        ("see https://example.org/p?q=1 now", "see [link] now"),
        ("call +44 20 7946 0958", "call [number]"),
        ("in 2024, 4.9% of 1,200 people", "in 2024, 4.9% of 1,200 people"),
    ],
)
def test_what_reaches_somebody_is_masked_and_figures_stay(text: str, without: str) -> None:
    assert masked(text) == without


async def stream(cases: Sequence[DecidedCase]) -> AsyncIterator[DecidedCase]:
    for each in cases:
        yield each


def written(cases: Sequence[DecidedCase], out: Path, least: int = 1) -> str:
    gathered = asyncio.run(gather(stream(cases), least))
    write(gathered, out)
    return data_sheet(gathered, out, least)


def test_repeats_are_one_example_with_all_its_raters_and_nothing_names_anybody(tmp_path: Path) -> None:
    draft = on_file(1, 0, 0)
    cases = [decided(draft, final=draft.text, who=who, number=number) for number, who in enumerate(("h1", "h2"))]
    sheet = written(cases, tmp_path)
    (line,) = (tmp_path / EXAMPLES).read_text().splitlines()
    assert '"raters":["h1","h2"]' in line and "troll" not in line and "example.org" not in line
    assert "1 repeats were joined" in sheet and "2 moderators" in sheet
    assert len(read_lines(tmp_path / VERDICTS, Verdict)) == 2


def test_a_rejected_draft_is_worse_than_what_was_sent_to_the_same_text(tmp_path: Path) -> None:
    worse, better = on_file(1, 0, 0), on_file(1, 1, 1)
    cases = [decided(worse, why="tone"), decided(better, final=better.text, number=2)]
    gathered = asyncio.run(gather(stream(cases), 1))
    (preference,) = gathered.preferences.values()
    assert (preference.chosen, preference.rejected, preference.reason) == (better.text, worse.text, "tone")


def test_what_people_contradict_each_other_on_is_dropped() -> None:
    left, right = on_file(1, 0, 0), on_file(1, 1, 1)
    cases = [
        decided(left, final=right.text, who="h1"),
        decided(right, final=left.text, who="h2", number=2),
    ]
    gathered = asyncio.run(gather(stream(cases), 2))
    assert not gathered.preferences and gathered.contradictions == 1


def test_too_few_moderators_are_refused() -> None:
    with pytest.raises(BadInput, match="--min-raters"):
        asyncio.run(gather(stream([decided(final="A reply.")]), 2))


def test_the_same_cases_give_the_same_bytes(tmp_path: Path) -> None:
    cases = [decided(on_file(1, n % 2, n % 2), why="evidence", number=n) for n in range(4)]
    assert written(cases, tmp_path / "a") == written(cases, tmp_path / "b")


def test_a_torn_line_is_named(tmp_path: Path) -> None:
    (tmp_path / VERDICTS).write_text("{}\n")
    with pytest.raises(BadInput, match=f"{VERDICTS}:1"):
        read_lines(tmp_path / VERDICTS, Verdict)


def test_every_reason_either_blames_something_or_is_about_the_post() -> None:
    assert {reason.code for reason in REASONS} <= BLAMED.keys() | ABOUT_THE_POST
    assert not BLAMED.keys() & ABOUT_THE_POST
