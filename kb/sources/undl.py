"""List UN documents by the Digital Library's OAI-PMH interface, and fetch their files.

Requests are `/oai2d?verb=ListRecords&metadataPrefix=marcxml&from=…&until=…` in windows of a month, then
`resumptionToken` alone. A window without records answers `noRecordsMatch`, an expired token `badResumptionToken`.

`from` and `until` are catalogue dates: a document of 2003 may be in a window of 2021. So every window from the first
year to today is searched, the newest first. There is no search by subject; fields 650 and 991 are compared here.
`/search` is not used, as it answers scripts with a challenge. Single records come from `/record/<number>/export/xm`,
lists of files from `/api/v1/file?recid=<number>`.

Source: https://www.openarchives.org/OAI/openarchivesprotocol.html and recorded answers.
"""

from __future__ import annotations

import calendar
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from datetime import date

from lxml import etree
from pydantic import ValidationError

from core.domain import now
from core.errors import KnowledgeBaseError
from kb.sources.documents import (
    OF_THE_UN,
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
from kb.sources.marc import CatalogueRecord, language_of_file, read_records
from kb.sources.un_documents import SymbolDocuments, citation, type_of
from kb.sources.validation import Format, Reason, Refusal

BASE = "https://digitallibrary.un.org"
INSTITUTION = "United Nations"
_OAI = "{http://www.openarchives.org/OAI/2.0/}"
_DONE = "done"
_UNCATALOGUED = {"draft", "meeting", "letter"}


class UnitedNations:
    """The UN's publications."""

    name = "un"
    types: tuple[str, ...] = ("resolution", "decision", "report", "general-comment", "observations", "other")
    usual_types: tuple[str, ...] = ("resolution", "decision", "report", "general-comment", "observations")
    languages: tuple[str, ...] = OF_THE_UN

    def __init__(
        self,
        client: Client,
        keywords: Keywords,
        documents: SymbolDocuments,
        base: str = BASE,
        today: Callable[[], date] = lambda: now().date(),
    ) -> None:
        self._client = client
        self._keywords = keywords
        self._documents = documents
        self._base = base
        self._today = today

    def steps(self, order: CrawlOrder) -> int | None:
        """Return the number of windows, or of single records."""
        return len(order.only) or sum(1 for _ in self._windows(order.first))

    async def listing(self, order: CrawlOrder, bookmarks: Mapping[str, str]) -> AsyncGenerator[ListingPage | Refusal]:
        """Yield the records of all windows that are not yet complete."""
        if order.only:
            for number in order.only:
                answer = await self._record(number, order.language)
                yield page_of_refused(answer, 1) if isinstance(answer, Refusal) else answer
            return
        for first, last in self._windows(order.first):
            async for page in self._window(first, last, order.language, bookmarks):
                yield page
                if isinstance(page, Refusal) and page.reason.blames_host:
                    return

    async def fetch(self, document: ListedDocument, _parts: Parts | None = None) -> list[FetchedText] | Refusal:
        """Return the PDF: by symbol, else from the record's files, else by the file API."""
        refusal = Refusal(Reason.MISSING, document.url, "the record names no file")
        if document.symbol != document.record:
            answer = await self._documents.fetch(document.symbol, document.language)
            if not isinstance(answer, Refusal):
                return [FetchedText.of(answer)]
            refusal = answer
        files = document.files or await self._files(document)
        for url in () if isinstance(files, Refusal) else files:
            answer = await self._client.get(url, {Format.PDF})
            if not isinstance(answer, Refusal):
                return [FetchedText.of(answer)]
            files = answer
        # A temporary refusal outweighs a permanent one: that way may work tomorrow.
        refusals = (outcome for outcome in (refusal, files) if isinstance(outcome, Refusal))
        return next((refused for refused in refusals if not refused.reason.permanent), refusal)

    async def _window(
        self, first: date, last: date, language: str, bookmarks: Mapping[str, str]
    ) -> AsyncGenerator[ListingPage | Refusal]:
        name = f"{language}/{first:%Y-%m}"
        token = bookmarks.get(name, "")
        if token == _DONE:
            yield ListingPage(steps=1)
            return
        restarted = False
        while True:
            answer = await self._ask(first, last, token)
            if isinstance(answer, Refusal):
                yield answer
                return
            records, code, following = answer
            if code == "badResumptionToken" and token:
                if restarted:
                    yield Refusal(Reason.ENDPOINT_ERROR, f"{self._base}/oai2d", f"its own token '{token}' is rejected")
                    return
                token, restarted = "", True
                continue
            if following and following == token:
                yield Refusal(Reason.ENDPOINT_ERROR, f"{self._base}/oai2d", f"the token '{token}' leads to itself")
                return
            # A window that is not over is not complete: more records may be catalogued later today.
            done = _DONE if last < self._today() else None
            yield ListingPage(tuple(self._citable(records, language)), {name: following or done}, 0 if following else 1)
            if not following:
                return
            token = following

    async def _ask(self, first: date, last: date, token: str) -> tuple[list[CatalogueRecord], str, str] | Refusal:
        """Return a page's records, its error code and the next page's token."""
        params = {"verb": "ListRecords"}
        params |= (
            {"resumptionToken": token}
            if token
            else {"metadataPrefix": "marcxml", "from": first.isoformat(), "until": last.isoformat()}
        )
        answer = await self._client.get(f"{self._base}/oai2d", {Format.XML}, params=params)
        if isinstance(answer, Refusal):
            return answer
        try:
            records = read_records(answer.content)
            code, text, following = _protocol(answer.content)
        except (KnowledgeBaseError, etree.XMLSyntaxError) as error:
            return Refusal(Reason.UNREADABLE, answer.url, str(error))
        if code not in ("", "noRecordsMatch") and not (code == "badResumptionToken" and token):
            return Refusal(Reason.ENDPOINT_ERROR, answer.url, f"OAI-PMH error {code}: {text}")
        if not code and b"<record" not in answer.content:
            return Refusal(Reason.EMPTY, answer.url, "neither records nor an error in the answer")
        return records, code, following

    async def _record(self, number: str, language: str) -> ListingPage | Refusal:
        answer = await self._client.get(f"{self._base}/record/{number}/export/xm", {Format.XML})
        if isinstance(answer, Refusal):
            return answer
        try:
            records = read_records(answer.content)
        except KnowledgeBaseError as error:
            return Refusal(Reason.UNREADABLE, answer.url, str(error))
        documents = tuple(self._citable(records, language, whatever=True))
        return (
            ListingPage(documents, steps=1)
            if documents
            else Refusal(Reason.EMPTY, answer.url, f"no record {number} to be cited")
        )

    async def _files(self, document: ListedDocument) -> list[str] | Refusal:
        """Return the addresses of a record's PDFs in its language from the file API."""
        url = f"{self._base}/api/v1/file"
        answer = await self._client.get(url, {Format.JSON}, params={"recid": document.record})
        if isinstance(answer, Refusal):
            return answer
        try:
            rows = json.loads(answer.content)
        except ValueError as error:
            return Refusal(Reason.UNREADABLE, answer.url, f"no list of files: {error}")
        return [
            str(row["url"])
            for row in rows
            if isinstance(row, dict)
            and _is_pdf(row)
            and language_of_file(str(row.get("description", "")), str(row.get("name", ""))) == document.language
        ]

    def _citable(
        self, records: Iterable[CatalogueRecord], language: str, *, whatever: bool = False
    ) -> Iterator[ListedDocument]:
        """Yield the useful records: about one of the groups, no draft, minutes or letter; with `whatever`, all."""
        for record in records:
            symbol = record.symbols[0] if record.symbols else record.number
            kind = type_of(symbol, record.title, record.statement)
            groups = self._keywords.by_subjects(record.subjects, f"{record.title}. {record.abstract}")
            if not whatever and (not groups or kind in _UNCATALOGUED):
                continue
            try:
                yield ListedDocument(
                    id=identity(symbol, language),
                    title=record.title or symbol,
                    institution=INSTITUTION,
                    type=kind,
                    symbol=symbol,
                    groups=groups,
                    year=record.year or 0,
                    language=language,
                    url=citation(symbol, language) if record.symbols else f"{self._base}/record/{record.number}",
                    record=record.number,
                    files=tuple(file.url for file in record.files if file.language == language),
                )
            except ValidationError:
                continue  # Without a date or a number it can't be cited.

    def _windows(self, first_year: int) -> Iterator[tuple[date, date]]:
        """Yield the months from today back to January of `first_year`, each as its first and last day."""
        today = self._today()
        for year in range(today.year, first_year - 1, -1):
            for month in range(today.month if year == today.year else 12, 0, -1):
                yield date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])


def _protocol(content: bytes) -> tuple[str, str, str]:
    """Return an OAI-PMH answer's error code and text, and its resumption token."""
    root = etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True))
    error, token = root.find(f"{_OAI}error"), root.find(f".//{_OAI}resumptionToken")
    code = "" if error is None else str(error.get("code", "unnamed"))
    return code, "" if error is None else (error.text or ""), "" if token is None else (token.text or "").strip()


def _is_pdf(row: Mapping[str, object]) -> bool:
    return bool(row.get("url")) and str(row.get("format", "")).lstrip(".").casefold() == "pdf"
