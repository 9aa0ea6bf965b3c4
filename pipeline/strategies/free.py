"""Replies that a chat model writes freely on the evidence."""

from __future__ import annotations

from core.domain import DraftRequest, FlaggedPost, Plan, Triage
from core.settings import ChatSettings, GuardSettings
from models.chat import ChatModel
from pipeline import grammar, prompt
from pipeline.guard import GuardContext, limit_for
from pipeline.strategies.strategy import Proposed, written_by
from pipeline.strategies.turns import Turns


class FreeStrategy:
    """A batch of free replies of a chat model, all in one round; none without a model.

    Cost at most: plan 0 requests, 0 tokens; draft 1 request, 600 tokens.
    """

    name = "free"
    plans_with_model = False
    writes_with_model = True

    def __init__(self, chat: ChatModel | None, turns: Turns, settings: ChatSettings, limits: GuardSettings) -> None:
        self._chat = chat
        self._turns = turns
        self._settings = settings
        self._limits = limits

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        """Return a plan that leaves the search to the post alone; asks no model."""
        return Plan(strategy=self.name)

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> Proposed:
        """Return one round of up to `chat.candidates` replies; raises ModelUnavailable or ModelRefused."""
        if self._chat is None:
            return Proposed()
        async with self._turns.turn(self.name):
            completions = await self._chat.complete(
                prompt.messages(context, request.hint),
                n=self._settings.candidates,
                temperature=self._settings.temperature,
                max_tokens=self._settings.max_tokens,
                grammar=grammar.two_sentences(context.intent, limit_for(context.post.platform, self._limits)),
                adapter=context.intent,
            )
        return written_by(self._chat.model, (completion.text for completion in completions))
