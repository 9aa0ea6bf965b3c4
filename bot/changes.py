"""The change feed: one task follows the ledger's history and informs all subscribers.

It follows the history instead of this process's decisions, so it also shows what other desks, workers and chats did.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from core.domain import Transition
from core.errors import LedgerUnavailable
from ledger.history import History

log = logging.getLogger(__name__)

T = TypeVar("T")
S = TypeVar("S")

PAGE = 500
BACKLOG = 1_000
"""Number of changes a subscriber may lag behind before it must start over."""


class Subscription(Generic[T]):
    """The changes that one listener has not taken yet, in order.

    If it lags too far behind, they are dropped and `next` returns None once; also when the feed begins to follow.
    """

    def __init__(self, backlog: int = BACKLOG) -> None:
        self._waiting: asyncio.Queue[T | None] = asyncio.Queue(backlog)

    async def next(self) -> T | None:
        """Wait for the next change; None means that some were lost and everything must be read again."""
        return await self._waiting.get()

    def forget(self) -> None:
        """Drop the waiting changes, for a subscriber that reads everything again anyway."""
        while not self._waiting.empty():
            self._waiting.get_nowait()

    def offer(self, change: T) -> None:
        """Add one change; if there is no room, drop the waiting ones first and signal the loss."""
        if self._waiting.full():
            self.start_over()
        self._waiting.put_nowait(change)

    def start_over(self) -> None:
        """Drop the waiting changes and signal the loss."""
        self.forget()
        self._waiting.put_nowait(None)


class Changes:
    """The growing history, passed on to every subscriber."""

    def __init__(self, history: History, every_s: float = 0.5, backlog: int = BACKLOG) -> None:
        self._history = history
        self._every_s = every_s
        self._backlog = backlog
        self._subscribers: set[Subscription[Any]] = set()
        self._nudged = asyncio.Event()
        self.last_id: int | None = None
        """Id of the newest change passed on; None until the ledger has been reached."""

    @contextmanager
    def subscribe(self) -> Iterator[Subscription[Transition]]:
        """Receive all changes from now on, until the context ends."""
        with self.attach(Subscription[Transition](self._backlog)) as subscription:
            yield subscription

    @contextmanager
    def attach(self, subscription: Subscription[S]) -> Iterator[Subscription[S]]:
        """Pass the changes to a subscription that may also get other items, until the context ends."""
        self._subscribers.add(subscription)
        try:
            yield subscription
        finally:
            self._subscribers.discard(subscription)

    async def missed(self, after: int) -> list[Transition] | None:
        """Return the changes after row `after` up to the newest passed on, or None if they are too many to replay."""
        newest = self.last_id or 0
        if after >= newest:
            return []
        missed = await self._history.since(after, PAGE)
        return None if len(missed) == PAGE else [change for change in missed if change.id <= newest]

    def nudge(self) -> None:
        """Check the history at once, because something was just decided here."""
        self._nudged.set()

    async def run(self) -> None:
        """Follow the history until cancelled, waiting out an unavailable ledger."""
        away = False
        while True:
            try:
                await self._follow()
                away = False
            except LedgerUnavailable as error:
                if not away:
                    log.warning("The change feed waits for the ledger: %s", error)
                away = True
            await self._pause()

    async def _follow(self) -> None:
        if self.last_id is None:
            self.last_id = await self._history.last_id()
            # Who read the ledger before this moment may have missed a change that the feed starts after.
            for subscriber in self._subscribers:
                subscriber.start_over()
        while page := await self._history.since(self.last_id, PAGE):
            for change in page:
                for subscriber in self._subscribers:
                    subscriber.offer(change)
            self.last_id = page[-1].id
            if len(page) < PAGE:
                break

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(self._every_s):
                await self._nudged.wait()
        except TimeoutError:
            return
        self._nudged.clear()
