"""A chat model that may be asked for a limited number of tokens and seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic

from core.errors import ModelRefused
from models.chat import ChatModel, Completion, Message

SPENT = "the budget of time and tokens is spent"


class BudgetSpent(ModelRefused):
    """A request for which the budget has too few tokens or no time."""


class Budget:
    """A budget of seconds from now on and of tokens; a request is charged with the most tokens that it may write."""

    def __init__(self, seconds: float, tokens: int, now: Callable[[], float] = monotonic) -> None:
        self._ends = now() + seconds
        self._now = now
        self.tokens = tokens

    @property
    def seconds(self) -> float:
        """Return the seconds that are left."""
        return max(0.0, self._ends - self._now())

    def part(self, seconds: float, tokens: int) -> Budget:
        """Return a budget for what may be used now: all but `seconds` and `tokens`, which are kept for later."""
        return Budget(max(0.0, self.seconds - seconds), max(0, self.tokens - tokens), self._now)

    def allows(self, tokens: int) -> bool:
        """Tell whether there is time left, and tokens enough for a request that may write this many."""
        return tokens <= self.tokens and self.seconds > 0


class BudgetedChat:
    """A ChatModel that asks another one within budgets; it raises BudgetSpent for what goes beyond them."""

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
        """Pass the request on to the model; raises BudgetSpent beforehand, or while waiting if time runs out."""
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
