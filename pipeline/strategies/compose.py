"""Replies composed from the evidence, without a model."""

from __future__ import annotations

import asyncio
from itertools import islice

from core.domain import DraftRequest, FlaggedPost, Origin, Plan, Triage
from pipeline.compose import Composer
from pipeline.guard import GuardContext
from pipeline.strategies.strategy import Proposal

MOST_ROUNDS = 12
"""Composed variants judged before the case is shown without a draft."""


class ComposeStrategy:
    """A claim template and an evidence sentence; each variant is a round of its own, best first."""

    name = "compose"
    plans_with_model = writes_with_model = False

    def __init__(self, composer: Composer) -> None:
        self._composer = composer

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        """Return a plan that leaves the search to the post alone."""
        return Plan(strategy=self.name)

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> list[tuple[Proposal, ...]]:
        """Return up to MOST_ROUNDS replies, beginning at the one that is the requested draft's turn."""
        texts = await asyncio.to_thread(
            lambda: list(islice(self._composer.variants(context, request.number), MOST_ROUNDS))
        )
        return [(Proposal(text, Origin.COMPOSER),) for text in texts]
