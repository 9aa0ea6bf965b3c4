"""Replies that a chat model writes freely on the evidence."""

from __future__ import annotations

import asyncio

from core.domain import DraftRequest, FlaggedPost, Origin, Plan, Triage
from core.settings import NO_MODEL, ChatSettings, GuardSettings
from models.chat import ChatModel
from pipeline import grammar, prompt
from pipeline.guard import GuardContext, limit_for
from pipeline.strategies.strategy import Proposal, tidy


class FreeStrategy:
    """A batch of free replies of a chat model, all in one round; none without a model."""

    name = "free"
    plans_with_model = False
    writes_with_model = True

    def __init__(self, chat: ChatModel | None, settings: ChatSettings, limits: GuardSettings) -> None:
        self._chat = None if settings.model == NO_MODEL else chat
        self._settings = settings
        self._limits = limits
        # A post that waits for its turn here does not use up its timeout in the server's queue.
        self._turns = asyncio.Semaphore(max(1, settings.slots // settings.candidates))

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        """Return a plan that leaves the search to the post alone; asks no model."""
        return Plan(strategy=self.name)

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> list[tuple[Proposal, ...]]:
        """Return one round of up to `chat.candidates` replies; raises ModelUnavailable or ModelRefused."""
        if self._chat is None:
            return []
        async with self._turns:
            completions = await self._chat.complete(
                prompt.messages(context, request.hint),
                n=self._settings.candidates,
                temperature=self._settings.temperature,
                max_tokens=self._settings.max_tokens,
                grammar=grammar.two_sentences(context.intent, limit_for(context.post.platform, self._limits)),
            )
        texts = dict.fromkeys(tidy(completion.text) for completion in completions)
        return [tuple(Proposal(text, Origin.MODEL, self._chat.model) for text in texts)]
