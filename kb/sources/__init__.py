"""Sources of documents: the UN, EU law, the EU Agency for Fundamental Rights."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.errors import BadInput
from core.retry import Backoff
from kb.sources.cellar import Cellar
from kb.sources.crawl import CrawlReport, crawl
from kb.sources.document_store import DocumentStore
from kb.sources.documents import CrawlOrder, ListedDocument, Source, StoredDocument
from kb.sources.eurlex import EuropeanUnion
from kb.sources.fetch import Client
from kb.sources.fra import FundamentalRightsAgency
from kb.sources.keywords import Keywords
from kb.sources.politeness import Politeness
from kb.sources.un_documents import SymbolDocuments
from kb.sources.undl import UnitedNations
from kb.sources.validation import Reason, Refusal

__all__ = [
    "SOURCES",
    "Cellar",
    "Client",
    "CrawlOrder",
    "CrawlReport",
    "DocumentStore",
    "EuropeanUnion",
    "FundamentalRightsAgency",
    "Keywords",
    "ListedDocument",
    "Politeness",
    "Reason",
    "Refusal",
    "Source",
    "StoredDocument",
    "SymbolDocuments",
    "UnitedNations",
    "crawl",
    "open_source",
]

SOURCES: dict[str, type[UnitedNations | EuropeanUnion | FundamentalRightsAgency]] = {
    "un": UnitedNations,
    "eurlex": EuropeanUnion,
    "fra": FundamentalRightsAgency,
}
_UN_POLITENESS = Politeness(backoff=Backoff(first_s=15.0, longest_s=240.0))
"""The Digital Library answers 503 with a Retry-After of a second or two, but needs about fifteen."""


@asynccontextmanager
async def open_source(name: str, contact: str = "") -> AsyncIterator[Source]:
    """Open one of SOURCES at its public address; raises BadInput for any other name."""
    if name not in SOURCES:
        raise BadInput(f"There is no source called {name}; choose one of {', '.join(SOURCES)}.")
    keywords = Keywords.load()
    if name == UnitedNations.name:
        async with Client(["un.org"], _UN_POLITENESS, contact) as client:
            yield UnitedNations(client, keywords, SymbolDocuments(client))
        return
    async with Client(["europa.eu"], contact=contact) as client:
        if name == EuropeanUnion.name:
            yield EuropeanUnion(Cellar(client), keywords)
        else:
            yield FundamentalRightsAgency(client, keywords)
