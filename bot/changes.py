"""The change feed: one task follows the ledger's history and tells everybody who looks.

Following the history, not this process's own decisions, shows what other desks, workers and chats did as well.
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
"""Changes a subscriber may lag behind before it is told to start over."""


class Subscription(Generic[T]):
    """The changes that one listener has yet to take, in order. One that lags too far loses them all, and is told so."""

    def __init__(self, backlog: int = BACKLOG) -> None:
        self._waiting: asyncio.Queue[T | None] = asyncio.Queue(backlog)

    async def next(self) -> T | None:
        """Wait for the next change; None means some were lost: read everything again."""
        return await self._waiting.get()

    def forget(self) -> None:
        """Drop what waits, for a subscriber that reads everything again anyway."""
        while not self._waiting.empty():
            self._waiting.get_nowait()

    def offer(self, change: T) -> None:
        """Take one change, or give up what waits when there is no room."""
        if self._waiting.full():
            self.forget()
            self._waiting.put_nowait(None)
        self._waiting.put_nowait(change)


class Changes:
    """The history as it grows, handed to every subscriber."""

    def __init__(self, history: History, every_s: float = 0.5, backlog: int = BACKLOG) -> None:
        self._history = history
        self._every_s = every_s
        self._backlog = backlog
        self._subscribers: set[Subscription[Any]] = set()
        self._nudged = asyncio.Event()
        self.last_id: int | None = None
        """The newest change handed out; None before the ledger was first reached."""

    @contextmanager
    def subscribe(self) -> Iterator[Subscription[Transition]]:
        """Receive the changes from now on, for as long as the context lasts."""
        with self.attach(Subscription[Transition](self._backlog)) as subscription:
            yield subscription

    @contextmanager
    def attach(self, subscription: Subscription[S]) -> Iterator[Subscription[S]]:
        """Hand the changes to a subscription that may get other things too, for as long as the context lasts."""
        self._subscribers.add(subscription)
        try:
            yield subscription
        finally:
            self._subscribers.discard(subscription)

    async def missed(self, after: int) -> list[Transition] | None:
        """Return the changes after row `after` up to the newest handed out; None when they are too many to replay."""
        newest = self.last_id or 0
        if after >= newest:
            return []
        missed = await self._history.since(after, PAGE)
        return None if len(missed) == PAGE else [change for change in missed if change.id <= newest]

    def nudge(self) -> None:
        """Look at once: something was just decided here."""
        self._nudged.set()

    async def run(self) -> None:
        """Follow the history until cancelled; while the ledger is away, keep trying."""
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
