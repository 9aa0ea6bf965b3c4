"""A chat model that may be asked for so many tokens and so many seconds, and not more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic

from core.errors import ModelRefused
from models.chat import ChatModel, Completion, Message

SPENT = "the budget of time and tokens is spent"


class BudgetSpent(ModelRefused):
    """A request that the budget has no tokens or no time for."""


class Budget:
    """Seconds from now on, and tokens; a request counts with the most that it may write."""

    def __init__(self, seconds: float, tokens: int, now: Callable[[], float] = monotonic) -> None:
        self._ends = now() + seconds
        self._now = now
        self.tokens = tokens

    @property
    def seconds(self) -> float:
        """Return the seconds that are left."""
        return max(0.0, self._ends - self._now())

    def part(self, seconds: float, tokens: int) -> Budget:
        """Return what may be used now: all but so many seconds and tokens, which are kept for later."""
        return Budget(max(0.0, self.seconds - seconds), max(0, self.tokens - tokens), self._now)

    def allows(self, tokens: int) -> bool:
        """Tell whether there is enough left for a request that may write so many tokens."""
        return tokens <= self.tokens and self.seconds > 0


class BudgetedChat:
    """A ChatModel that asks another one within a budget; it raises BudgetSpent for what goes beyond it."""

    def __init__(self, chat: ChatModel, *budgets: Budget) -> None:
        self.model = chat.model
        self._chat = chat
        self._budgets = budgets

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        n: int = 1,
        temperature: float = 0.5,
        max_tokens: int = 150,
        grammar: str | None = None,
        seed: int | None = None,
        stop: Sequence[str] = (),
        adapter: str | None = None,
    ) -> list[Completion]:
        """Ask the model as it is asked here; raises BudgetSpent before the request, or while it runs out of time."""
        if not all(budget.allows(n * max_tokens) for budget in self._budgets):
            raise BudgetSpent(SPENT)
        for budget in self._budgets:
            budget.tokens -= n * max_tokens
        try:
            async with asyncio.timeout(min(budget.seconds for budget in self._budgets)):
                return await self._chat.complete(
                    messages, n=n, temperature=temperature, max_tokens=max_tokens, grammar=grammar, seed=seed,
                    stop=stop, adapter=adapter,
                )  # fmt: skip
        except TimeoutError:
            raise BudgetSpent(SPENT) from None
