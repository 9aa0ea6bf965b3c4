"""Query the Publications Office's repository: SPARQL for lists of works, content negotiation for their texts.

Queries go to `https://publications.europa.eu/webapi/rdf/sparql`. Texts come from
`http://publications.europa.eu/resource/celex/<CELEX>` by `Accept` and `Accept-Language`: after a 303 or, for a work in
several parts, by way of a 300 that lists them. `eur-lex.europa.eu` answers scripts with a challenge and is only cited.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from urllib.parse import quote, urlsplit

from lxml import etree, html

from kb.sources.documents import LANGUAGES, FetchedText, Parts
from kb.sources.fetch import Client
from kb.sources.validation import Format, Reason, Refusal, recognise

SPARQL = "https://publications.europa.eu/webapi/rdf/sparql"
RESOURCES = "http://publications.europa.eu"
_FORMS = (
    ("application/xhtml+xml", {Format.HTML, Format.XML}),
    ("text/html", {Format.HTML}),
    ("application/xml;type=fmx4", {Format.XML}),
    ("application/pdf", {Format.PDF}),
)
_DESCRIPTION = re.compile(r"\.(?:doc|toc)\.xml$")


@dataclass(frozen=True)
class Row:
    """One row of an answer: a work with a title; a work may have several rows."""

    celex: str
    year: int
    title: str


class Cellar:
    """The Publications Office's repository; tests use other addresses."""

    def __init__(self, client: Client, sparql: str = SPARQL, resources: str = RESOURCES) -> None:
        self._client = client
        self._sparql = sparql
        self._resources = resources

    async def rows(self, query: str, **values: str) -> list[Row] | Refusal:
        """Run one of the queries beside this module, with its placeholders filled in."""
        text = Template(_query(query))
        answer = await self._client.get(
            self._sparql,
            {Format.JSON},
            params={"query": text.substitute(values), "format": "application/sparql-results+json"},
        )
        if isinstance(answer, Refusal):
            return answer
        try:
            return _rows(answer.content)
        except (ValueError, KeyError, TypeError) as error:
            return Refusal(Reason.UNREADABLE, self._sparql, f"no SPARQL results: {error!r}")

    async def text(self, celex: str, language: str, kept: Parts) -> list[FetchedText] | Refusal:
        """Return a work's text in the first available form: XHTML, HTML, Formex, PDF."""
        url = f"{self._resources}/resource/celex/{quote(celex, safe='()')}"
        refusal = Refusal(Reason.MISSING, url, "in no form")
        for accept, formats in _FORMS:
            headers = {"Accept": accept, "Accept-Language": LANGUAGES[language]}
            answer = await self._client.get(url, formats, headers=headers)
            if not isinstance(answer, Refusal):
                return [FetchedText.of(answer)]
            if answer.reason is Reason.CHOICES:
                return await self._parts(answer, formats, headers, kept)
            refusal = answer
            if answer.reason is not Reason.MISSING:
                break
        return refusal

    async def _parts(
        self, choices: Refusal, formats: set[Format], headers: dict[str, str], kept: Parts
    ) -> list[FetchedText] | Refusal:
        """Fetch all parts in a list of choices; if one is refused, so is the whole, but the other parts are kept."""
        texts: list[FetchedText] = []
        try:
            paths = parts_of(choices.body)
        except (etree.ParserError, ValueError) as error:  # An empty page, or an invalid address.
            return Refusal(Reason.UNREADABLE, choices.url, f"no list of choices: {error}")
        for number, path in enumerate(paths, start=1):
            url, part = f"{self._resources}{path}", number if len(paths) > 1 else 0
            content = kept.get(url)
            if content is None:
                answer = await self._client.get(url, formats, headers=headers)
                if isinstance(answer, Refusal):
                    return answer
                kept[url] = content = answer.content
            form = recognise(content)
            assert form is not None  # It was examined on arrival.
            texts.append(FetchedText(content, form, part))
        return texts or Refusal(Reason.CHOICES, choices.url, "a list of choices that names no text")


def parts_of(page: bytes) -> list[str]:
    """Return the paths of the texts that a 300 lists, in order; descriptions of texts are left out."""
    parts: list[tuple[int, str]] = []
    for item in html.fromstring(page).xpath('//li[@title="item"][a/@href]'):
        path = urlsplit(item.xpath("string(a/@href)")).path
        name = item.xpath('string(.//li[@title="stream_name"])')
        order = item.xpath('string(.//li[@title="stream_order"])')
        if path.startswith("/resource/cellar/") and not _DESCRIPTION.search(name):
            parts.append((int(order) if order.isdigit() else len(parts), path))
    return [path for _, path in sorted(parts)]


def _query(name: str) -> str:
    """Return a query without its comments, which would only lengthen the address."""
    text = (files("kb.sources") / "queries" / f"{name}.rq").read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def _rows(content: bytes) -> list[Row]:
    return [_row(binding) for binding in json.loads(content)["results"]["bindings"]]


def _row(binding: dict[str, dict[str, str]]) -> Row:
    title = " – ".join(part for part in str(binding["title"]["value"]).split("#") if part.strip())
    return Row(str(binding["celex"]["value"]), int(str(binding["date"]["value"])[:4]), title[:1000])
