"""Run a crawl: list, choose, fetch and store documents, and count everything that happens."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from kb.sources.document_store import DocumentStore
from kb.sources.documents import CrawlOrder, FetchedText, ListedDocument, ListingPage, Source
from kb.sources.validation import Reason, Refusal

WORKERS = 3
"""Parallel fetches; each host still gets one request at a time."""
_EXAMPLES = 3


@dataclass
class CrawlReport:
    """Counts of a crawl. `left` is what the next run will try; `stopped` says why the listing is incomplete."""

    steps: int = 0
    steps_total: int | None = None
    found: int = 0
    wanted: int = 0
    stored: int = 0
    repeated: int = 0
    left: int = 0
    stopped: str = ""
    refused: Counter[Reason] = field(default_factory=Counter)
    examples: dict[Reason, list[str]] = field(default_factory=dict)

    def refuse(self, refusal: Refusal) -> None:
        """Count a refusal, and keep the first few of each kind as examples."""
        self.refused[refusal.reason] += 1
        shown = self.examples.setdefault(refusal.reason, [])
        if len(shown) < _EXAMPLES:
            shown.append(refusal.description)


async def crawl(
    source: Source,
    store: DocumentStore,
    order: CrawlOrder,
    report: CrawlReport | None = None,
    *,
    on_change: Callable[[CrawlReport], None] = lambda report: None,
) -> CrawlReport:
    """Fetch the ordered documents that are not in the store yet; return a report.

    Documents that earlier runs listed but did not fetch come first. `report` is filled during the crawl, so that it is
    right after an interruption, too. Raises Unavailable if the store can't be written.
    """
    run = _Run(source, store, order, report or CrawlReport(), on_change)
    run.report.steps_total = source.steps(order)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(run.list_all())
            for _ in range(WORKERS):
                tasks.create_task(run.fetch_all())
    except ExceptionGroup as group:
        raise group.exceptions[0] from group
    if not order.only:
        run.report.left = sum(1 for document in store.open_documents(source.name) if order.wants(document))
    on_change(run.report)
    return run.report


class _Run:
    def __init__(
        self,
        source: Source,
        store: DocumentStore,
        order: CrawlOrder,
        report: CrawlReport,
        on_change: Callable[[CrawlReport], None],
    ) -> None:
        self.report = report
        self._source = source
        self._store = store
        self._order = order
        self._on_change = on_change
        self._queue: asyncio.Queue[ListedDocument | None] = asyncio.Queue(maxsize=2 * WORKERS)
        self._queued: set[str] = set()
        self._under_way = 0
        self._room = asyncio.Condition()

    async def list_all(self) -> None:
        """Queue open documents of earlier runs, then those that the listing finds, until enough are stored."""
        if not self._order.only:
            for document in self._store.open_documents(self._source.name):
                await self._queue_if_ordered(document)
        await self._list_new()
        # This must not happen after a failure: the workers are then cancelled, and nobody empties a full queue.
        for _ in range(WORKERS):
            await self._queue.put(None)

    async def fetch_all(self) -> None:
        """Fetch queued documents until the listing is over."""
        while (document := await self._queue.get()) is not None:
            if await self._begin_fetch():
                try:
                    self._store_outcome(document, await self._source.fetch(document, self._store.parts(document)))
                finally:
                    await self._end_fetch()

    async def _list_new(self) -> None:
        bookmarks = self._store.bookmarks(self._source.name)
        async with aclosing(self._source.listing(self._order, bookmarks)) as listing:
            while not self._enough:
                item = await anext(listing, None)
                if item is None:
                    break
                if isinstance(item, Refusal):
                    self.report.refuse(item)
                    self.report.stopped = str(item)
                else:
                    await self._add_page(item)
                self._on_change(self.report)

    async def _add_page(self, page: ListingPage) -> None:
        self._store.add_page(self._source.name, page)
        self.report.steps += page.steps
        self.report.found += len(page.documents)
        for refusal in page.refused:
            self.report.refuse(refusal)
        for document in page.documents:
            await self._queue_if_ordered(document)

    async def _queue_if_ordered(self, document: ListedDocument) -> None:
        is_ordered = self._order.wants(document) and document.id not in self._queued
        if is_ordered and not self._enough and self._store.is_open(document):
            self._queued.add(document.id)
            self.report.wanted += 1
            await self._queue.put(document)

    def _store_outcome(self, document: ListedDocument, outcome: list[FetchedText] | Refusal) -> None:
        if isinstance(outcome, Refusal):
            self.report.refuse(outcome)
            if outcome.reason is not Reason.CLOSED:
                self._store.refuse(document, outcome)
            return
        new = self._store.put(document, outcome)
        self.report.stored += new > 0
        self.report.repeated += new == 0

    async def _begin_fetch(self) -> bool:
        """Wait until it is clear whether this document is still needed; return False if enough are stored."""
        most = self._order.most
        async with self._room:
            if most is not None:
                await self._room.wait_for(lambda: self._enough or self.report.stored + self._under_way < most)
            if self._enough:
                return False
            self._under_way += 1
            return True

    async def _end_fetch(self) -> None:
        async with self._room:
            self._under_way -= 1
            self._room.notify_all()
        self._on_change(self.report)

    @property
    def _enough(self) -> bool:
        return self._order.most is not None and self.report.stored >= self._order.most
