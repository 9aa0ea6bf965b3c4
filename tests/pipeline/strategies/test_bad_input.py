"""Bad answers and bad cases through grounding, drafting and guard: `compose`'s words in bounded time, and a note."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from unittest.mock import create_autospec

import numpy as np
import pytest

from core.domain import Draft, DraftRequest, Evidence, FlaggedPost, Origin, Triage
from core.settings import KnowledgeBaseSettings, PlainSettings, Settings
from kb.claims.matching import ClaimMatcher
from kb.search import Searcher
from models.chat import ChatModel, Completion, Message
from pipeline.draft import Drafter
from pipeline.ground import Grounder
from pipeline.strategies import Strategies
from rejoinder.guard_assembly import open_drafting_guard
from tests.models.scripted_chat import ObedientChat, ScriptedChat
from tests.pipeline.strategies.kinds import BAD_CASES, GARBAGE, INJECTION, KINDS, Silent

WITH_MODEL = [name for name in KINDS if name != "compose"]
HANGS_S = 30.0
"""Seconds that only a hang takes."""


class FallingSilent(ObedientChat):
    """A model that answers what plans ask, and no request for a reply."""

    async def complete(self, messages: Sequence[Message], **asked: Any) -> list[Completion]:
        if asked["max_tokens"] == PlainSettings().max_tokens:
            await asyncio.Event().wait()
        return await super().complete(messages, **asked)


async def drafted(
    name: str, chat: ChatModel | None, case: dict[str, Any], triage: Triage, hint: str = "", seconds: float = 60.0
) -> Draft:
    """Return the first draft of a case that is planned, grounded, written and judged as in a worker."""
    searcher, claims = create_autospec(Searcher, instance=True), create_autospec(ClaimMatcher, instance=True)
    searcher.embed.return_value = np.zeros(384, np.float32)
    searcher.search.return_value = []
    claims.match.return_value = ((), tuple(case["evidence"]))
    strategies = Strategies(default=KINDS[name](chat, seconds), fallback=KINDS["compose"](None))
    grounder = Grounder(searcher, claims, strategies, KnowledgeBaseSettings())
    post = case["post"]
    async with asyncio.timeout(HANGS_S), open_drafting_guard(Settings()) as guard:
        grounding = await grounder.ground(post, triage)
        return await Drafter(strategies, guard).draft(post, triage, grounding, DraftRequest(hint=hint))


@pytest.fixture
def case(post: FlaggedPost, evidence: tuple[Evidence, ...]) -> dict[str, Any]:
    return {"post": post, "evidence": evidence}


def says_that_compose_stood_in(draft: Draft, name: str) -> bool:
    """Tell whether the note says so; a tournament, which `compose` enters too, says that no other reply won."""
    if draft.origin is Origin.NONE:
        return draft.note.endswith(
            "No fitting evidence in English for this post. Search the evidence or write a reply."
        )
    wordings = [f"So compose drafted, not {name}.", f"Drafted by compose, as {name} could not plan: "]
    if name == "tournament":
        wordings += ["The tournament ended after 0 of ", "No duel was held", "whoever was shown first, or second, won"]
    return any(wording in draft.note for wording in wordings)


async def assert_composed(draft: Draft, name: str, case: dict[str, Any], triage: Triage) -> None:
    """Assert that a draft has the words that `compose` finds for the case, and says why it has no others."""
    composed = await drafted("compose", None, case, triage)
    assert (draft.text, draft.origin) == (composed.text, composed.origin)
    assert says_that_compose_stood_in(draft, name), draft.note


@pytest.mark.parametrize("name", WITH_MODEL)
@pytest.mark.parametrize("answer", GARBAGE.values(), ids=list(GARBAGE))
async def test_where_a_model_answers_garbage_compose_drafts_and_the_note_says_so(
    name: str, case: dict[str, Any], triage: Triage, answer: str
) -> None:
    draft = await drafted(name, ScriptedChat(*[answer] * 8), case, triage)
    assert draft.origin is Origin.COMPOSER
    await assert_composed(draft, name, case, triage)


@pytest.mark.parametrize("name", WITH_MODEL)
@pytest.mark.parametrize("bad", BAD_CASES.values(), ids=list(BAD_CASES))
@pytest.mark.parametrize("answer", ["garbage", "another language"])
async def test_in_a_bad_case_too_it_is_composed_what_can_be(
    name: str, case: dict[str, Any], triage: Triage, bad: dict[str, Any], answer: str
) -> None:
    case |= bad
    draft = await drafted(name, ScriptedChat(*[GARBAGE[answer]] * 8), case, triage, hint=INJECTION)
    await assert_composed(draft, name, case, triage)


@pytest.mark.parametrize("name", WITH_MODEL)
async def test_where_a_model_never_answers_compose_drafts_in_bounded_time(
    name: str, case: dict[str, Any], triage: Triage
) -> None:
    draft = await drafted(name, Silent(), case, triage, seconds=0.05)
    assert draft.origin is Origin.COMPOSER
    assert f"{name} took longer than 0.05 s" in draft.note
    await assert_composed(draft, name, case, triage)


@pytest.mark.parametrize("name", ["claim-guided", "intent-frames", "tournament"])
async def test_where_a_model_falls_silent_after_the_plan_compose_drafts_in_bounded_time(
    name: str, case: dict[str, Any], triage: Triage
) -> None:
    draft = await drafted(name, FallingSilent(), case, triage, seconds=0.5)
    assert f"{name} took longer than 0.5 s" in draft.note
    await assert_composed(draft, name, case, triage)
