"""Replies that a chat model writes freely from the evidence."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain import DraftRequest, FlaggedPost, Plan, Triage
from core.settings import SamplingSettings
from pipeline import prompt
from pipeline.guard import GuardContext
from pipeline.strategies.replying import Writer, replies
from pipeline.strategies.strategy import Proposed


@dataclass(frozen=True)
class FreeStrategy:
    """A batch of free replies by a chat model, all in one round; none without a model.

    Cost at most: plan 0 requests, 0 tokens; draft 1 request, 600 tokens.
    """

    writer: Writer
    settings: SamplingSettings
    name = "free"
    plans_with_model = False
    writes_with_model = True

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        """Return a plan that searches with the post alone; asks no model."""
        return Plan(strategy=self.name)

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> Proposed:
        """Return one round of up to `chat.candidates` replies; raises ModelUnavailable or ModelRefused."""
        async with self.writer.turns.turn(self.name):
            return await replies(self.writer, context, prompt.messages(context, request.hint), self.settings)
