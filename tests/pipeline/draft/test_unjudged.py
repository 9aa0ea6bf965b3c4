"""Drafting while the judge is away: what it should have read is not shown, and what needs no judge is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from core.domain import DraftRequest, FlaggedPost, Grounding, Origin, Triage
from core.errors import ModelUnavailable
from core.settings import GuardSettings
from pipeline.draft import Drafter
from pipeline.guard import Guard, word_checks
from pipeline.guard.opposition import OpposesCheck

FAIR = "Everyone deserves respect. That is only fair."
REASON = "Not judged: The judge's server is away."


class AwayJudge:
    """A SentenceJudge whose model is away."""

    name = "chat"
    languages: frozenset[str] | None = None

    async def probabilities(self, post: str, sentences: Sequence[str], language: str) -> list[float]:
        raise ModelUnavailable("The judge's server is away.")


@pytest.fixture
def guard() -> Guard:
    """Return the guard that the drafters of this module judge with."""
    return Guard([*word_checks(GuardSettings(), judged=True), OpposesCheck(AwayJudge(), 0.5, 0.2, 10)])


async def test_words_on_file_are_shown_in_the_models_place_and_the_note_says_why(
    post: FlaggedPost,
    triage: Triage,
    grounding: Grounding,
    drafter: Callable[..., Drafter],
    scripted: Callable[..., Any],
) -> None:
    draft = await drafter(scripted(FAIR)).draft(post, triage, grounding, DraftRequest())
    assert draft.origin is Origin.COMPOSER
    assert draft.text
    assert f"1 of 1 model drafts failed: opposes (1). {REASON}" in draft.note


async def test_without_words_on_file_there_is_no_draft_and_the_note_says_why(
    post: FlaggedPost, triage: Triage, drafter: Callable[..., Drafter], scripted: Callable[..., Any]
) -> None:
    draft = await drafter(scripted(FAIR)).draft(post, triage, Grounding(evidence=()), DraftRequest())
    assert (draft.origin, draft.text) == (Origin.NONE, "")
    assert REASON in draft.note
