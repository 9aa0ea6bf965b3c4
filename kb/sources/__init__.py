"""Documents from their publishers: the UN, EU law, the EU Agency for Fundamental Rights."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kb.sources.candidates import Candidate, Document, Order, Source
from kb.sources.cellar import Cellar
from kb.sources.challenge import Kind, Refusal
from kb.sources.crawl import Tally, crawl
from kb.sources.eurlex import EuropeanUnion
from kb.sources.fetch import Client
from kb.sources.fra import FundamentalRightsAgency
from kb.sources.keywords import Keywords
from kb.sources.manners import Manners
from kb.sources.shelf import Shelf
from kb.sources.un_documents import SymbolDocuments
from kb.sources.undl import UnitedNations

__all__ = [
    "SOURCES",
    "Candidate",
    "Cellar",
    "Client",
    "Document",
    "EuropeanUnion",
    "FundamentalRightsAgency",
    "Keywords",
    "Kind",
    "Manners",
    "Order",
    "Refusal",
    "Shelf",
    "Source",
    "SymbolDocuments",
    "Tally",
    "UnitedNations",
    "crawl",
    "open_source",
]

SOURCES: dict[str, type[UnitedNations | EuropeanUnion | FundamentalRightsAgency]] = {
    "un": UnitedNations,
    "eurlex": EuropeanUnion,
    "fra": FundamentalRightsAgency,
}
_UN_MANNERS = Manners(backoff_s=15.0)
"""The Digital Library answers 503 with a Retry-After of a second or two and means a quarter of a minute."""


@asynccontextmanager
async def open_source(name: str, contact: str = "") -> AsyncIterator[Source]:
    """Open one of SOURCES at its public address."""
    keywords = Keywords.load()
    if name == UnitedNations.name:
        async with Client(["un.org"], _UN_MANNERS, contact) as client:
            yield UnitedNations(client, keywords, SymbolDocuments(client))
        return
    async with Client(["europa.eu"], contact=contact) as client:
        if name == EuropeanUnion.name:
            yield EuropeanUnion(Cellar(client), keywords)
        else:
            yield FundamentalRightsAgency(client, keywords)
