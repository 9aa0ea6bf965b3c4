"""The records that pass between a source, the store and the crawl."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Protocol

from pydantic import BeforeValidator, Field

from core.domain import Moment, Record, TargetGroup
from kb.sources.fetch import Answer
from kb.sources.validation import Format, Refusal

LANGUAGES = {
    "bg": "bul",
    "cs": "ces",
    "da": "dan",
    "de": "deu",
    "el": "ell",
    "en": "eng",
    "es": "spa",
    "et": "est",
    "fi": "fin",
    "fr": "fra",
    "ga": "gle",
    "hr": "hrv",
    "hu": "hun",
    "it": "ita",
    "lt": "lit",
    "lv": "lav",
    "mt": "mlt",
    "nl": "nld",
    "pl": "pol",
    "pt": "por",
    "ro": "ron",
    "sk": "slk",
    "sl": "slv",
    "sv": "swe",
    "ar": "ara",
    "ru": "rus",
    "zh": "zho",
}
"""ISO 639-1 to 639-3, for the languages of the European Union and of the United Nations."""
OF_THE_UN = ("ar", "en", "es", "fr", "ru", "zh")
OF_THE_EU = tuple(code for code in LANGUAGES if code not in ("ar", "ru", "zh"))

_LONGEST = 1000


def _one_line(value: object) -> object:
    return " ".join(value.split())[:_LONGEST] if isinstance(value, str) else value


Line = Annotated[str, BeforeValidator(_one_line), Field(min_length=1)]


class ListedDocument(Record):
    """A document that a source has listed, not yet fetched.

    `id` is unique across all sources: a UN symbol, a CELEX number, an FRA publication; in languages other than English,
    the language is appended. `url` is the address to cite. `record` and `files` tell the source where to find the text.
    """

    id: Line
    title: Line
    institution: Line
    type: Line
    symbol: Line
    groups: tuple[TargetGroup, ...]
    year: Annotated[int, Field(ge=1900, le=2100)]
    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")] = "en"
    url: str
    record: str = ""
    files: tuple[str, ...] = ()


class StoredDocument(Record):
    """A document in the store: one row of the manifest. `file` is its path relative to the store's folder."""

    id: str
    title: str
    institution: str
    type: str
    symbol: str
    groups: tuple[TargetGroup, ...]
    year: int
    language: str
    url: str
    file: str
    sha256: str
    fetched_at: Moment


class CrawlOrder(Record):
    """What to fetch: groups, years (first and last included), types, and how many at most.

    With `only`, nothing is searched: just these UN record numbers, CELEX numbers or FRA publications are fetched.
    """

    groups: tuple[TargetGroup, ...] = tuple(TargetGroup)
    first: int = 2000
    last: int = 2025
    types: tuple[str, ...] = ()
    most: int | None = None
    language: str = "en"
    only: tuple[str, ...] = ()

    def wants(self, document: ListedDocument) -> bool:
        """Tell whether a document is ordered."""
        if self.only:
            return True
        return (
            self.first <= document.year <= self.last
            and document.type in self.types
            and document.language == self.language
            and not set(self.groups).isdisjoint(document.groups)
        )


def identity(symbol: str, language: str) -> str:
    """Return a document's id."""
    return symbol if language == "en" else f"{symbol} ({language})"


@dataclass(frozen=True)
class ListingPage:
    """One step of a listing: what it found, and where to continue after an interruption.

    - `bookmarks` are stored together with the documents, all or nothing; None removes one. A bookmark's name includes
      everything that shapes its listing, so that it never serves another order.
    - `steps` is how many of the listing's steps this page completes.
    - `refused` are single documents that the step could not offer and never will.
    """

    documents: tuple[ListedDocument, ...] = ()
    bookmarks: Mapping[str, str | None] = field(default_factory=dict)
    steps: int = 0
    refused: tuple[Refusal, ...] = ()


def page_of_refused(refusal: Refusal, steps: int) -> ListingPage | Refusal:
    """Return the step for a single document that was refused: complete if that is permanent, else to be repeated."""
    return ListingPage(steps=steps, refused=(refusal,)) if refusal.reason.permanent else refusal


@dataclass(frozen=True)
class FetchedText:
    """A document's text, or one of its parts, numbered from 1; `part` is 0 for the whole."""

    content: bytes
    format: Format
    part: int = 0

    @classmethod
    def of(cls, answer: Answer, part: int = 0) -> FetchedText:
        """Return the text that the client fetched."""
        return cls(answer.content, answer.format, part)


class Parts(Protocol):
    """The parts of a work that have arrived, by address, until the work is complete."""

    def get(self, url: str, /) -> bytes | None:
        """Return a part that arrived earlier; None if it has not."""

    def __setitem__(self, url: str, content: bytes, /) -> None:
        """Keep a part."""


class Source(Protocol):
    """An institution's publications: list them, fetch one of them.

    Neither method raises for anything that a server does: refusals are values. A refusal in a listing means that one
    step could not be read and that the next run should ask again; the listing may continue after it.
    """

    name: str
    types: tuple[str, ...]
    usual_types: tuple[str, ...]
    languages: tuple[str, ...]

    def steps(self, order: CrawlOrder) -> int | None:
        """Return how many steps the listing has; None if that can't be known."""

    def listing(self, order: CrawlOrder, bookmarks: Mapping[str, str]) -> AsyncGenerator[ListingPage | Refusal]:
        """Yield the listing's steps, starting where the bookmarks say."""

    async def fetch(self, document: ListedDocument, parts: Parts, /) -> list[FetchedText] | Refusal:
        """Return a document's text; what is in `parts` is not requested again."""
