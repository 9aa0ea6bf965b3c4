"""A source with two documents, for tests of code that uses sources."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping

from core.domain import TargetGroup
from kb.sources import CrawlOrder, Reason, Refusal
from kb.sources.documents import FetchedText, ListedDocument, ListingPage, Parts
from kb.sources.validation import Format


class Shop:
    """A source with two documents, one of which is missing."""

    name = "un"
    types: tuple[str, ...] = ("resolution",)
    usual_types: tuple[str, ...] = ("resolution",)
    languages: tuple[str, ...] = ("en",)

    def steps(self, order: CrawlOrder) -> int | None:
        return 1

    async def listing(self, order: CrawlOrder, bookmarks: Mapping[str, str]) -> AsyncGenerator[ListingPage | Refusal]:
        yield ListingPage(tuple(
            ListedDocument(id=name, title=name, institution="United Nations", type="resolution", symbol=name, year=2020,
                      groups=(TargetGroup.WOMEN,), url="https://example.org")
            for name in ("A", "B")), steps=1)  # fmt: skip

    async def fetch(self, document: ListedDocument, parts: Parts) -> list[FetchedText] | Refusal:
        if document.id == "B":
            return Refusal(Reason.MISSING, "https://example.org/B", "no document B")
        return [FetchedText(b"%PDF-1.7 x %%EOF", Format.PDF)]
