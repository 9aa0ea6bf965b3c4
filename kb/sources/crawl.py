"""Run a crawl: list, choose, fetch, shelve; count everything that happens."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from kb.sources.candidates import Candidate, Delivery, Order, Page, Source
from kb.sources.challenge import Kind, Refusal
from kb.sources.shelf import Shelf

WORKERS = 3
"""Fetches at once; each host still gets one request at a time."""
_EXAMPLES = 3


@dataclass
class Tally:
    """Count what a crawl did. `left` is what the next run will try; `stopped` says why the listing is not whole."""

    steps: int = 0
    steps_total: int | None = None
    found: int = 0
    wanted: int = 0
    stored: int = 0
    repeated: int = 0
    left: int = 0
    stopped: str = ""
    refused: Counter[Kind] = field(default_factory=Counter)
    examples: dict[Kind, list[str]] = field(default_factory=dict)

    def refuse(self, refusal: Refusal) -> None:
        """Count a refusal, and keep the first few of its kind to show."""
        self.refused[refusal.kind] += 1
        shown = self.examples.setdefault(refusal.kind, [])
        if len(shown) < _EXAMPLES:
            shown.append(refusal.story)


async def crawl(
    source: Source,
    shelf: Shelf,
    order: Order,
    tally: Tally | None = None,
    *,
    on_change: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Fetch what is ordered and not on the shelf yet; return what happened.

    Whatever earlier runs listed and did not fetch comes first. `tally` is filled while the crawl runs, so that it tells
    the truth after an interruption too. Raises Unavailable when the shelf can't be written.
    """
    run = _Run(source, shelf, order, tally or Tally(), on_change)
    run.tally.steps_total = source.steps(order)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(run.list_all())
            for _ in range(WORKERS):
                tasks.create_task(run.fetch_all())
    except ExceptionGroup as group:
        raise group.exceptions[0] from group
    if not order.only:
        run.tally.left = sum(1 for candidate in shelf.open_candidates(source.name) if order.wants(candidate))
    on_change(run.tally)
    return run.tally


class _Run:
    def __init__(
        self, source: Source, shelf: Shelf, order: Order, tally: Tally, on_change: Callable[[Tally], None]
    ) -> None:
        self.tally = tally
        self._source = source
        self._shelf = shelf
        self._order = order
        self._on_change = on_change
        self._queue: asyncio.Queue[Candidate | None] = asyncio.Queue(maxsize=2 * WORKERS)
        self._queued: set[str] = set()
        self._busy = 0
        self._room = asyncio.Condition()

    async def list_all(self) -> None:
        """Queue what is open from earlier runs, then what the listing finds, until enough is stored."""
        if not self._order.only:
            for candidate in self._shelf.open_candidates(self._source.name):
                await self._offer(candidate)
        await self._list_new()
        # Not after a failure: then the workers are cancelled too, and nobody empties a full queue.
        for _ in range(WORKERS):
            await self._queue.put(None)

    async def fetch_all(self) -> None:
        """Fetch queued candidates until the listing is over."""
        while (candidate := await self._queue.get()) is not None:
            if await self._begin():
                try:
                    self._shelve(candidate, await self._source.fetch(candidate, self._shelf.parts(candidate)))
                finally:
                    await self._end()

    async def _list_new(self) -> None:
        bookmarks = self._shelf.bookmarks(self._source.name)
        async with aclosing(self._source.listing(self._order, bookmarks)) as listing:  # type: ignore[type-var]
            while not self._enough:
                item = await anext(listing, None)
                if item is None:
                    break
                if isinstance(item, Refusal):
                    self.tally.refuse(item)
                    self.tally.stopped = str(item)
                else:
                    await self._take_in(item)
                self._on_change(self.tally)

    async def _take_in(self, page: Page) -> None:
        self._shelf.take_in(self._source.name, page)
        self.tally.steps += page.steps
        self.tally.found += len(page.candidates)
        for refusal in page.refused:
            self.tally.refuse(refusal)
        for candidate in page.candidates:
            await self._offer(candidate)

    async def _offer(self, candidate: Candidate) -> None:
        wanted = self._order.wants(candidate) and candidate.id not in self._queued
        if wanted and not self._enough and self._shelf.is_open(candidate):
            self._queued.add(candidate.id)
            self.tally.wanted += 1
            await self._queue.put(candidate)

    def _shelve(self, candidate: Candidate, outcome: list[Delivery] | Refusal) -> None:
        if isinstance(outcome, Refusal):
            self.tally.refuse(outcome)
            if outcome.kind is not Kind.CLOSED:
                self._shelf.refuse(candidate, outcome)
            return
        new = self._shelf.put(candidate, outcome)
        self.tally.stored += new > 0
        self.tally.repeated += new == 0

    async def _begin(self) -> bool:
        """Wait until this document may still be wanted; return False when there are enough."""
        most = self._order.most
        async with self._room:
            if most is not None:
                await self._room.wait_for(lambda: self._enough or self.tally.stored + self._busy < most)
            if self._enough:
                return False
            self._busy += 1
            return True

    async def _end(self) -> None:
        async with self._room:
            self._busy -= 1
            self._room.notify_all()
        self._on_change(self.tally)

    @property
    def _enough(self) -> bool:
        return self._order.most is not None and self.tally.stored >= self._order.most
