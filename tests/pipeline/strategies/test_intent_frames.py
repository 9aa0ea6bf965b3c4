"""`intent-frames`: what its reply is written from."""

from __future__ import annotations

import pytest

from core.domain import DraftRequest, Evidence, FlaggedPost, TargetGroup, Triage
from core.settings import GuardSettings, IntentFramesSettings
from models.turns import Turns
from pipeline.guard import GuardContext
from pipeline.strategies import IntentFramesStrategy, Writer
from tests.models.scripted_chat import ObedientChat


@pytest.mark.parametrize("pieces", [1, 2])
async def test_the_reply_is_written_from_as_much_evidence_as_is_set(
    post: FlaggedPost, triage: Triage, evidence: tuple[Evidence, ...], pieces: int
) -> None:
    chat = ObedientChat("Women vote. They always will.")
    settings = IntentFramesSettings(evidence=pieces)
    strategy = IntentFramesStrategy(Writer(chat, Turns(1, 30.0), GuardSettings()), settings, 0.5)
    context = GuardContext(post=post, language="en", evidence=evidence, groups=(TargetGroup.WOMEN,))
    await strategy.propose(context, await strategy.plan(post, triage), DraftRequest())
    told = chat.asked[-1]["messages"][-1].content
    assert [piece.text in told for piece in evidence] == [place < pieces for place in range(len(evidence))]
