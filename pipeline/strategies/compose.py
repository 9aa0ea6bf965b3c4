"""Replies from sentences on file, or composed from the evidence, without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import islice

from core.domain import DraftRequest, FlaggedPost, Origin, Plan, Triage
from pipeline.answers import answers
from pipeline.compose import Composer
from pipeline.guard import GuardContext
from pipeline.strategies.strategy import Proposal, Proposed

MOST_ROUNDS = 12
"""Most replies that are judged before the case is shown without a draft."""


class ComposeStrategy:
    """A counter-claim and a fact on file, or a template and an evidence sentence; each is a round, best first.

    Cost at most: plan 0 requests, 0 tokens; draft 0 requests, 0 tokens.
    """

    name = "compose"
    plans_with_model = writes_with_model = False

    def __init__(self, composer: Composer) -> None:
        self._composer = composer

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        """Return a plan that searches with the post alone."""
        return Plan(strategy=self.name)

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> Proposed:
        """Return up to MOST_ROUNDS replies, starting at the turn of the requested draft."""
        proposals = await asyncio.to_thread(lambda: [*islice(self._proposals(context, request.number), MOST_ROUNDS)])
        return Proposed(tuple((proposal,) for proposal in proposals))

    def _proposals(self, context: GuardContext, number: int) -> Iterator[Proposal]:
        for answer in answers(context, self._composer.longest(context), number):
            yield Proposal(answer.text, Origin.COMPOSER, claim=answer.claim, facts=(answer.fact,))
        for text in self._composer.variants(context, number):
            yield Proposal(text, Origin.COMPOSER)
