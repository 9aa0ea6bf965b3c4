"""List EU law and policy by EuroVoc subject and by CELEX number, and fetch the texts from CELLAR."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from urllib.parse import quote

from pydantic import ValidationError

from core.domain import TargetGroup
from kb.sources.cellar import Cellar, Row
from kb.sources.documents import (
    LANGUAGES,
    OF_THE_EU,
    CrawlOrder,
    FetchedText,
    ListedDocument,
    ListingPage,
    Parts,
    identity,
)
from kb.sources.keywords import Keywords
from kb.sources.validation import Reason, Refusal

INSTITUTION = "European Union"
ROWS = 500
"""Rows per page, few enough for the endpoint's limit of 60 s."""
_PATTERNS = {
    "directive": "3[0-9]{4}L[0-9]{4}",
    "regulation": "3[0-9]{4}R[0-9]{4}",
    "decision": "3[0-9]{4}[DF][0-9]{4}",
    "recommendation": "3[0-9]{4}H[0-9]{4}",
    "resolution": "(3[0-9]{4}G|5[0-9]{4}IP)[0-9]{4}",
    "communication": "5[0-9]{4}DC[0-9]{4}",
    "proposal": "5[0-9]{4}PC[0-9]{4}",
    "judgment": "6[0-9]{4}[CT]J[0-9]{4}",
    "opinion": "6[0-9]{4}CC[0-9]{4}",
    "treaty": "1[0-9]{4}[A-Z]*(/[A-Z]+)?",
}
_ENDING = r"([(][0-9]{2}[)])?"
_CELEX = re.compile(r"[0-9][0-9A-Z/()_-]{5,40}")
_DONE = "done"


class EuropeanUnion:
    """The EU's law: acts, case-law and policy papers."""

    name = "eurlex"
    types: tuple[str, ...] = tuple(_PATTERNS)
    usual_types: tuple[str, ...] = (
        "directive",
        "regulation",
        "decision",
        "recommendation",
        "resolution",
        "communication",
        "judgment",
        "treaty",
    )
    languages: tuple[str, ...] = OF_THE_EU

    def __init__(self, cellar: Cellar, keywords: Keywords) -> None:
        self._cellar = cellar
        self._keywords = keywords

    def steps(self, order: CrawlOrder) -> int | None:
        """Return the number of queries: one for the known acts, and one for each group in each year."""
        return 1 if order.only else 1 + len(order.groups) * (order.last - order.first + 1)

    async def listing(self, order: CrawlOrder, bookmarks: Mapping[str, str]) -> AsyncGenerator[ListingPage | Refusal]:
        """Yield the acts named in the keywords, then what EuroVoc finds; a complete listing starts anew next time."""
        if order.only:
            yield await self._requested_by_number(order)
            return
        yield await self._named_in_keywords(order)
        finished: dict[str, None] = {}
        complete = True
        for group in order.groups:
            for year in range(order.last, order.first - 1, -1):
                name = "/".join((order.language, *sorted(order.types), group, str(year)))
                async for page in self._group_and_year(order, group, year, name, bookmarks.get(name, "")):
                    yield page
                    if isinstance(page, Refusal):
                        if page.reason.blames_host:
                            return
                        complete = False
                finished[name] = None
        # If a group's year is missing, the next run asks only for that, from where it stopped.
        if complete:
            yield ListingPage(bookmarks=finished)

    async def fetch(self, document: ListedDocument, parts: Parts) -> list[FetchedText] | Refusal:
        """Return the text from CELLAR."""
        return await self._cellar.text(document.symbol, document.language, parts)

    async def _requested_by_number(self, order: CrawlOrder) -> ListingPage | Refusal:
        """Find the acts that were ordered by number; report each that is not found."""
        rows = await self._rows([celex for celex in order.only if _CELEX.fullmatch(celex)], order.language)
        if isinstance(rows, Refusal):
            return rows
        documents = self._citable(rows, order)
        refused = tuple(
            Refusal(Reason.MISSING, celex, f"no act has this CELEX number and a title in '{order.language}'")
            for celex in order.only
            if celex not in {document.symbol for document in documents}
        )
        return ListingPage(documents, steps=1, refused=refused)

    async def _named_in_keywords(self, order: CrawlOrder) -> ListingPage | Refusal:
        """Find the acts that the keywords name."""
        numbers = list(dict.fromkeys(celex for group in order.groups for celex in self._keywords.groups[group].celex))
        rows = await self._rows(numbers, order.language)
        if isinstance(rows, Refusal):
            return rows
        if numbers and not rows:
            return Refusal(Reason.EMPTY, " ".join(numbers), "status 200, but none of these CELEX numbers is known")
        return ListingPage(self._citable(rows, order), steps=1)

    async def _rows(self, numbers: Sequence[str], language: str) -> list[Row] | Refusal:
        if not numbers:
            return []
        literals = " ".join(f'"{celex}"^^xsd:string' for celex in numbers)
        return await self._cellar.rows("by_celex", celex=literals, language=LANGUAGES[language].upper())

    async def _group_and_year(
        self, order: CrawlOrder, group: TargetGroup, year: int, name: str, after: str
    ) -> AsyncGenerator[ListingPage | Refusal]:
        """Yield one group's works of one year, page by page."""
        labels = " ".join(f'"{label}"@en' for label in self._keywords.groups[group].eurovoc)
        pattern = "|".join(_PATTERNS[kind] for kind in order.types)
        while after != _DONE:
            rows = await self._cellar.rows(
                "by_subject",
                labels=labels,
                first=f"{year}-01-01",
                next=f"{year + 1}-01-01",
                pattern=f"^({pattern}){_ENDING}$",
                after=after,
                language=LANGUAGES[order.language].upper(),
                limit=str(ROWS),
            )
            if isinstance(rows, Refusal):
                yield rows
                return
            after = rows[-1].celex if len(rows) == ROWS else _DONE
            yield ListingPage(self._citable(rows, order, (group,)), {name: after}, int(after == _DONE))

    def _citable(
        self, rows: Sequence[Row], order: CrawlOrder, groups: tuple[TargetGroup, ...] = ()
    ) -> tuple[ListedDocument, ...]:
        """Return one document per work, from the first of its rows."""
        first: dict[str, Row] = {}
        for row in rows:
            first.setdefault(row.celex, row)
        documents = (self._document(row, order.language, groups) for row in first.values())
        return tuple(document for document in documents if document is not None)

    def _document(self, row: Row, language: str, groups: tuple[TargetGroup, ...]) -> ListedDocument | None:
        try:
            return ListedDocument(
                id=identity(row.celex, language),
                title=row.title,
                institution=INSTITUTION,
                type=type_of(row.celex),
                symbol=row.celex,
                groups=self._keywords.by_celex(row.celex, row.title, groups),
                year=row.year,
                language=language,
                url=citation(row.celex, language),
            )
        except ValidationError:
            return None


def type_of(celex: str) -> str:
    """Return the type that a CELEX number shows."""
    return next(
        (kind for kind, pattern in _PATTERNS.items() if re.fullmatch(f"(?:{pattern}){_ENDING}", celex)), "other"
    )


def citation(celex: str, language: str) -> str:
    """Return the address to cite, which is never fetched."""
    return f"https://eur-lex.europa.eu/legal-content/{language.upper()}/TXT/?uri=CELEX:{quote(celex, safe='()')}"
