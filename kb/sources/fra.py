"""List the publications of the EU Agency for Fundamental Rights, and fetch their PDFs.

`/en/products/search?page=N` (from 0) links to `/en/publication/YEAR/slug`; that page's `<head>` has the title
(`og:title`) and the date (`article:published_time`), its body the files below `/sites/default/files/`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from lxml import etree, html
from pydantic import ValidationError

from kb.sources.documents import (
    LANGUAGES,
    OF_THE_EU,
    CrawlOrder,
    FetchedText,
    ListedDocument,
    ListingPage,
    Parts,
    identity,
    page_of_refused,
)
from kb.sources.fetch import Client
from kb.sources.keywords import Keywords
from kb.sources.validation import Format, Reason, Refusal

BASE = "https://fra.europa.eu"
INSTITUTION = "EU Agency for Fundamental Rights"
_PUBLICATION = re.compile(r"/[a-z]{2}/publication/((?:19|20)\d\d)/([A-Za-z0-9._-]+)$")
_LANGUAGE = re.compile(r"[-_]([a-z]{2})(?:[-_]?\d+)?$")
_THEME = re.compile(r"/themes?/([a-z0-9-]+)$")
_TYPES = (
    ("handbook", ("handbook", "guide", "manual", "toolkit")),
    ("opinion", ("opinion", "position paper")),
    ("factsheet", ("factsheet", "leaflet", "infographic", "at a glance", "country sheet")),
    ("annual", ("fundamental rights report", "annual report", "annual activity report")),
)
_MOST_PAGES = 1000


@dataclass(frozen=True)
class Publication:
    """The content of a publication's page."""

    title: str
    year: int | None
    themes: tuple[str, ...]
    text: str
    files: tuple[str, ...]


class FundamentalRightsAgency:
    """The agency's publications."""

    name = "fra"
    types: tuple[str, ...] = ("report", "handbook", "opinion", "factsheet", "annual")
    usual_types: tuple[str, ...] = types
    languages: tuple[str, ...] = OF_THE_EU

    def __init__(self, client: Client, keywords: Keywords, base: str = BASE) -> None:
        self._client = client
        self._keywords = keywords
        self._base = base

    def steps(self, order: CrawlOrder) -> int | None:
        """Return None unless publications were ordered by name: the search does not say how many pages it has."""
        return len(order.only) or None

    async def listing(self, order: CrawlOrder, bookmarks: Mapping[str, str]) -> AsyncGenerator[ListingPage | Refusal]:
        """Yield publications, newest first, until a search page has none; a complete listing starts anew next time."""
        if order.only:
            for name in order.only:
                async for item in self._publication(f"/en/publication/{name.strip('/')}", order, steps=1):
                    yield item
            return
        place = f"{order.language}/{order.first}-{order.last}/page"
        for number in range(int(bookmarks.get(place, "0")), _MOST_PAGES):
            paths = await self._search(number)
            if isinstance(paths, Refusal):
                yield paths
                return
            async for item in self._new(paths, order, bookmarks):
                yield item
                if isinstance(item, Refusal) and item.reason.blames_host:
                    return
            # The newest come first, so that nothing ordered follows a page of only older ones.
            over = not paths or all(_year(path) < order.first for path in paths)
            yield ListingPage(bookmarks={place: None if over else str(number + 1)}, steps=1)
            if over:
                return

    async def _new(
        self, paths: Iterable[str], order: CrawlOrder, bookmarks: Mapping[str, str]
    ) -> AsyncGenerator[ListingPage | Refusal]:
        """Read the publications of the ordered years that were not looked at before."""
        for path in paths:
            if _year(path) in range(order.first, order.last + 1) and f"{order.language}{path}" not in bookmarks:
                async for item in self._publication(path, order):
                    yield item

    async def fetch(self, document: ListedDocument, _parts: Parts | None = None) -> list[FetchedText] | Refusal:
        """Return the PDF."""
        answer = await self._client.get(document.files[0], {Format.PDF})
        return answer if isinstance(answer, Refusal) else [FetchedText.of(answer)]

    async def _search(self, number: int) -> list[str] | Refusal:
        answer = await self._client.get(f"{self._base}/en/products/search", {Format.HTML}, params={"page": str(number)})
        if isinstance(answer, Refusal):
            return answer
        links = _links(self._base, _parsed(answer.content).xpath("//a/@href"))
        paths = list(dict.fromkeys(path for _, path in links if _PUBLICATION.search(path)))
        if not paths and number == 0:
            return Refusal(Reason.EMPTY, answer.url, "status 200, but not one publication on the first page")
        return paths

    async def _publication(self, path: str, order: CrawlOrder, steps: int = 0) -> AsyncGenerator[ListingPage | Refusal]:
        """Read a publication's page; it is not read again, whatever becomes of its files."""
        answer = await self._client.get(f"{self._base}{path}", {Format.HTML})
        if isinstance(answer, Refusal):
            yield page_of_refused(answer, steps)
            return
        publication = read_publication(answer.content, self._base, order.language)
        documents = tuple(self._citable(publication, path, order.language))
        missing = Refusal(Reason.MISSING, answer.url, f"no PDF in '{order.language}' on the page")
        yield ListingPage(documents, {f"{order.language}{path}": "seen"}, steps, () if documents else (missing,))

    def _citable(self, publication: Publication, path: str, language: str) -> Iterator[ListedDocument]:
        slug = path.rpartition("/")[2]
        for number, file in enumerate(publication.files):
            stem = file.rpartition("/")[2].removesuffix(".pdf")
            symbol = slug if number == 0 else f"{slug}/{stem}"
            try:
                yield ListedDocument(
                    id=identity(symbol, language),
                    title=publication.title,
                    institution=INSTITUTION,
                    type=type_of(f"{publication.title} {stem}"),
                    symbol=symbol,
                    year=publication.year or _year(path),
                    language=language,
                    url=f"{BASE}{path}",
                    files=(file,),
                    groups=self._keywords.by_themes(publication.themes, publication.title, publication.text),
                )
            except ValidationError:
                continue


def read_publication(content: bytes, base: str, language: str) -> Publication:
    """Read a publication's page; files in other languages are left out."""
    page = _parsed(content)
    main = (page.xpath("//main") or page.xpath("//body") or [page])[0]
    title = page.xpath('string(//meta[@property="og:title"]/@content)') or page.xpath("string(//title)").split("|")[0]
    published = page.xpath('string(//meta[@property="article:published_time"]/@content)')
    # `nav` and `footer` link to every theme on every page.
    links = list(_links(base, main.xpath(".//a[not(ancestor::nav or ancestor::footer)]/@href")))
    themes = [hit[1] for _, path in links if (hit := _THEME.search(path))]
    files = [link for link, path in links if _is_file(path, language)]
    words = main.xpath(".//p[not(ancestor::nav or ancestor::footer)]//text()")
    return Publication(
        " ".join(title.split()),
        int(published[:4]) if published[:4].isdecimal() else None,
        tuple(dict.fromkeys(themes)),
        " ".join(" ".join(words).split())[:5000],
        tuple(dict.fromkeys(files)),
    )


def type_of(title: str) -> str:
    """Return a publication's type, from its title and its file's name."""
    words = title.casefold().replace("_", " ").replace("-", " ")
    return next((kind for kind, marks in _TYPES if any(mark in words for mark in marks)), "report")


def _links(base: str, links: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield addresses with their paths; invalid links are left out."""
    for link in links:
        try:
            address = urljoin(base, link)
            yield address, urlsplit(address).path
        except ValueError:
            continue


def _is_file(path: str, language: str) -> bool:
    if "/sites/default/files/" not in path or not path.casefold().endswith(".pdf"):
        return False
    named = _LANGUAGE.search(path[:-4].casefold())
    return (named[1] if named and named[1] in LANGUAGES else "en") == language


def _parsed(content: bytes) -> html.HtmlElement:
    """Parse a page; content without any element gives an empty page, not an error."""
    try:
        return html.fromstring(content)
    except etree.ParserError:
        return html.fromstring("<html><body></body></html>")


def _year(path: str) -> int:
    hit = _PUBLICATION.search(path)
    return int(hit[1]) if hit else 0
