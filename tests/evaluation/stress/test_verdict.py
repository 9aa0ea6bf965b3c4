from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from core.domain import CaseState, Transition
from evaluation.stress.moderators import SentDecision
from evaluation.stress.verdict import judge
from tests.factories import START

STEPS = (None, "received", "triaged", "grounded", "pending", "approved", "pending", "approved", "released")
"""A case that was approved, taken back, and approved with another text."""


def history(key: str, *states: str | None) -> list[Transition]:
    return [
        Transition(
            id=version, case_key=key, version=version, from_state=before and CaseState(before),
            to_state=CaseState(after or ""), at=START + timedelta(seconds=version), who="ana", why="",
        )
        for version, (before, after) in enumerate(pairwise(states), start=1)
    ]  # fmt: skip


FIRST = SentDecision("forum/1", 4, "ana", "approve", "First words.", 200, 1)
TAKEN_BACK = SentDecision("forum/1", 5, "ana", "undo", None, 200, 1)
SECOND = SentDecision("forum/1", 6, "ana", "edit", "Second words.", 200, 1)
GOOD: dict[str, Any] = {
    "accepted": ["forum/1"],
    "refused": [],
    "states": {"forum/1": CaseState.RELEASED},
    "decisions": [FIRST, TAKEN_BACK, SECOND],
    "history": history("forum/1", *STEPS),
    "replies": {"forum/1": ["Second words."]},
}


def wrong(**changes: Any) -> set[str]:
    verdict = judge(**{**GOOD, **changes})
    return {name for name, keys in verdict.wrong.items() if keys}


def test_a_case_that_went_as_it_should_is_found_good() -> None:
    assert wrong() == set()


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"accepted": ["forum/1", "forum/2"]}, "flags lost"),
        ({"refused": ["forum/2"]}, "flags refused"),
        ({"states": {**GOOD["states"], "forum/2": CaseState.GROUNDED}}, "cases unfinished"),
        ({"states": {**GOOD["states"], "forum/2": CaseState.FAILED}}, "cases failed"),
        ({"decisions": [*GOOD["decisions"], replace(SECOND, version=9)]}, "decisions lost"),
        ({"decisions": [*GOOD["decisions"], replace(SECOND, who="ben")]}, "decisions doubled"),
        ({"decisions": [FIRST, TAKEN_BACK]}, "approvals nobody made"),
        ({"replies": {}}, "replies lost"),
        ({"replies": {"forum/1": ["Second words.", "Second words."]}}, "replies doubled"),
        ({"replies": {"forum/1": ["First words."]}}, "replies with a wrong text"),
        ({"replies": {**GOOD["replies"], "forum/2": ["Nobody asked."]}}, "replies unapproved"),
        ({"history": history("forum/1", *STEPS[:7])}, "replies unapproved"),
    ],
)
def test_each_kind_of_fault_is_found(changes: dict[str, Any], found: str) -> None:
    assert found in wrong(**changes)


def test_a_decision_that_nobody_answered_counts_by_the_history() -> None:
    unanswered = replace(SECOND, status=None)
    assert wrong(decisions=[FIRST, TAKEN_BACK, unanswered]) == set()
    never_made = {"history": history("forum/1", *STEPS[:7]), "replies": {}, "states": {"forum/1": CaseState.PENDING}}
    assert wrong(decisions=[FIRST, TAKEN_BACK, unanswered], **never_made) == set()
