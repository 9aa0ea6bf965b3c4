"""The UN's recorded records and documents, replayed; OAI-PMH envelopes are composed after the protocol's text."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from core.domain import TargetGroup
from kb.sources import Client, CrawlOrder, Keywords, Reason, Refusal
from kb.sources.documents import ListedDocument, ListingPage
from kb.sources.un_documents import SymbolDocuments, citation, type_of
from kb.sources.undl import UnitedNations

Serve = Callable[..., Awaitable[Any]]
TODAY = date(2025, 3, 15)
APP = "<!DOCTYPE html><html><head><title>ODS</title></head><body><app-root></app-root></body></html>"


def oai(body: str) -> web.Response:
    text = f'<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">{body}</OAI-PMH>'
    return web.Response(text=text, content_type="text/xml")


def envelope(*records: str, token: str = "") -> web.Response:
    """Compose a page of ListRecords."""
    rows = "".join(f"<record><header/><metadata>{record}</metadata></record>" for record in records)
    return oai(f"<ListRecords>{rows}<resumptionToken>{token}</resumptionToken></ListRecords>")


def failure(code: str) -> web.Response:
    return oai(f'<error code="{code}">so it is</error>')


def record(symbol: str, title: str, *subjects: str, year: int = 2024, files: Mapping[str, str] | None = None) -> str:
    """Compose a catalogue record with the fields that the library's help page names."""
    fields = [
        ("191", "a", symbol),
        ("245", "a", f"{title} :"),
        ("245", "b", "resolution /"),
        ("269", "a", f"{year}-12-17"),
    ]
    fields += [("650", "a", subject) for subject in subjects]
    rows = "".join(f'<datafield tag="{tag}" ind1=" " ind2=" "><subfield code="{code}">{value}</subfield></datafield>'
                   for tag, code, value in fields)  # fmt: skip
    rows += "".join(f'<datafield tag="856" ind1=" " ind2=" "><subfield code="u">{url}</subfield><subfield code="y">'
                    f"{label}</subfield></datafield>" for label, url in (files or {}).items())  # fmt: skip
    number = re.sub(r"\D", "", symbol) or "7"
    return (f'<record xmlns="http://www.loc.gov/MARC21/slim"><controlfield tag="001">{number}</controlfield>{rows}'
            "</record>")  # fmt: skip


def source(client: Client, keywords: Keywords, base: str) -> UnitedNations:
    return UnitedNations(client, keywords, SymbolDocuments(client, base), base, today=lambda: TODAY)


async def listed(
    un: UnitedNations, order: CrawlOrder, bookmarks: Mapping[str, str] | None = None
) -> list[ListingPage | Refusal]:
    return [item async for item in un.listing(order, bookmarks or {})]


def documents(items: list[ListingPage | Refusal]) -> list[ListedDocument]:
    return [document for item in items if isinstance(item, ListingPage) for document in item.documents]


def refusals(items: list[ListingPage | Refusal]) -> list[Reason]:
    return [refusal.reason for item in items for refusal in ((item,) if isinstance(item, Refusal) else item.refused)]


ORDER = CrawlOrder(first=2025, types=UnitedNations.usual_types)


async def test_lists_composed_windows_from_today_back_and_follows_tokens(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.query.get("resumptionToken") == "next":
            return envelope(record("A/RES/79/2", "Protection of migrants", "MIGRANTS"))
        if request.query["from"] == "2025-02-01":
            return envelope(record("A/RES/79/1", "Rights of women", "WOMEN'S RIGHTS", year=2003), token="next")
        return failure("noRecordsMatch")

    server = await serve(answer)
    un = source(client, keywords, server.base)
    items = await listed(un, ORDER)
    assert [document.symbol for document in documents(items)] == ["A/RES/79/1", "A/RES/79/2"]
    assert documents(items)[0].year == 2003
    assert server.asked == [
        "/oai2d?verb=ListRecords&metadataPrefix=marcxml&from=2025-03-01&until=2025-03-31",
        "/oai2d?verb=ListRecords&metadataPrefix=marcxml&from=2025-02-01&until=2025-02-28",
        "/oai2d?verb=ListRecords&resumptionToken=next",
        "/oai2d?verb=ListRecords&metadataPrefix=marcxml&from=2025-01-01&until=2025-01-31",
    ]
    assert un.steps(ORDER) == sum(item.steps for item in items if isinstance(item, ListingPage)) == 3


async def test_notes_where_it_stands_and_never_calls_the_current_month_done(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.query.get("from") == "2025-02-01":
            return envelope(record("A/RES/79/1", "x", "WOMEN"), token="next")
        return failure("noRecordsMatch") if "from" in request.query else envelope(record("A/RES/79/2", "y", "WOMEN"))

    server = await serve(answer)
    items = await listed(source(client, keywords, server.base), ORDER)
    marks = [dict(item.bookmarks) for item in items if isinstance(item, ListingPage)]
    assert marks == [{"en/2025-03": None}, {"en/2025-02": "next"}, {"en/2025-02": "done"}, {"en/2025-01": "done"}]


async def test_goes_on_from_a_token_and_leaves_out_what_is_done(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return (
            envelope(record("A/RES/79/2", "y", "WOMEN")) if "from" not in request.query else failure("noRecordsMatch")
        )

    server = await serve(answer)
    bookmarks = {"en/2025-02": "next", "en/2025-01": "done"}
    assert documents(await listed(source(client, keywords, server.base), ORDER, bookmarks))
    assert [path.partition("ListRecords&")[2] for path in server.asked] == [
        "metadataPrefix=marcxml&from=2025-03-01&until=2025-03-31",
        "resumptionToken=next",
    ]


async def test_begins_a_window_again_when_its_token_has_run_out(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    async def answer(request: web.Request) -> web.Response:
        if "resumptionToken" in request.query:
            return failure("badResumptionToken")
        return envelope(record("A/RES/79/1", "x", "WOMEN"))

    server = await serve(answer)
    items = await listed(source(client, keywords, server.base), ORDER, {"en/2025-03": "old"})
    assert refusals(items) == []
    assert server.asked[0].endswith("resumptionToken=old")
    assert "from=2025-03-01" in server.asked[1]


async def test_begins_a_window_again_only_once(serve: Serve, client: Client, keywords: Keywords) -> None:
    async def answer(request: web.Request) -> web.Response:
        if "resumptionToken" in request.query:
            return failure("badResumptionToken")
        return envelope(record("A/RES/79/1", "x", "WOMEN"), token="rejected")

    server = await serve(answer)
    bookmarks = {"en/2025-02": "done", "en/2025-01": "done"}
    async with asyncio.timeout(60):
        items = await listed(source(client, keywords, server.base), ORDER, bookmarks)
    assert refusals(items) == [Reason.ENDPOINT_ERROR]
    assert ["from=" in path for path in server.asked] == [True, False, True, False]


async def test_a_page_that_leads_to_itself_ends_the_listing(serve: Serve, client: Client, keywords: Keywords) -> None:
    async def answer(request: web.Request) -> web.Response:
        return envelope(record("A/RES/79/1", "x", "WOMEN"), token="same")

    server = await serve(answer)
    bookmarks = {"en/2025-02": "done", "en/2025-01": "done"}
    async with asyncio.timeout(60):
        items = await listed(source(client, keywords, server.base), ORDER, bookmarks)
    assert refusals(items) == [Reason.ENDPOINT_ERROR]
    assert len(server.asked) == 2


async def test_reports_and_passes_over_composed_windows_it_cannot_read(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    async def answer(request: web.Request) -> web.Response:
        month = request.query["from"][5:7]
        if month == "03":
            return failure("badArgument")
        if month == "02":
            return oai("<ListRecords></ListRecords>")
        return web.Response(text="<OAI-PMH><a></b></OAI-PMH>", content_type="text/xml")

    server = await serve(answer)
    items = await listed(source(client, keywords, server.base), ORDER)
    assert refusals(items) == [Reason.ENDPOINT_ERROR, Reason.EMPTY, Reason.UNREADABLE]


async def test_stops_at_a_challenge(serve: Serve, client: Client, keywords: Keywords, shared: Path) -> None:
    page = (shared / "eurlex/recorded_http/eurlex_aws_waf_challenge_202.html").read_text()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=page, status=202, content_type="text/html")

    server = await serve(answer)
    assert refusals(await listed(source(client, keywords, server.base), ORDER)) == [Reason.CHALLENGE]
    assert len(server.asked) == 1


async def test_keeps_what_is_about_the_groups_and_no_drafts_minutes_or_letters(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return envelope(
            record("A/RES/79/1", "Budget of the Organization", "BUDGET"),
            record("A/C.3/79/L.5", "Rights of women", "WOMEN"),
            record("A/79/PV.12", "Meeting on women", "WOMEN"),
            record("A/RES/79/2", "No date", "WOMEN").replace("2024-12-17", "n.d."),
            record("A/RES/79/3", "Rights of women of African descent", "WOMEN", "AFRICAN DESCENT"),
        )

    server = await serve(answer)
    (document, *_) = documents(await listed(source(client, keywords, server.base), ORDER))
    assert (document.id, document.type, document.institution) == ("A/RES/79/3", "resolution", "United Nations")
    assert document.groups == (TargetGroup.WOMEN, TargetGroup.PEOPLE_OF_COLOUR)
    assert document.url == "https://docs.un.org/en/A/RES/79/3"


async def test_takes_a_recorded_record_by_its_number(
    serve: Serve, client: Client, keywords: Keywords, shared: Path
) -> None:
    content = (shared / "undl/marcxml_excerpts/undl_4096564_voting_record_trimmed.xml").read_bytes()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=content, content_type="text/xml")

    server = await serve(answer)
    (document,) = documents(await listed(source(client, keywords, server.base), CrawlOrder(only=("4096564",))))
    assert (document.symbol, document.title, document.year) == (
        "A/RES/80/214",
        "National human rights institutions",
        2025,
    )
    assert server.asked == ["/record/4096564/export/xm"]


async def test_reports_a_recorded_empty_answer_with_200(
    serve: Serve, client: Client, keywords: Keywords, shared: Path
) -> None:
    content = (shared / "undl/tind_api/records-api-search-p7.xml").read_bytes()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=content, content_type="text/xml")

    server = await serve(answer)
    assert refusals(await listed(source(client, keywords, server.base), CrawlOrder(only=("1",)))) == [Reason.EMPTY]


def resolution(**fields: object) -> ListedDocument:
    return ListedDocument.model_validate({
        "id": "A/RES/80/193", "title": "x", "institution": "United Nations", "type": "resolution", "year": 2025,
        "symbol": "A/RES/80/193", "groups": ["women"], "url": "https://docs.un.org/en/A/RES/80/193", "record": "7",
        **fields,
    })  # fmt: skip


async def test_fetches_a_recorded_document_by_its_symbol(
    serve: Serve, client: Client, keywords: Keywords, shared: Path
) -> None:
    content = (shared / "un_docs/pdf/A_RES_80_193.pdf").read_bytes()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=content, content_type="application/pdf")

    server = await serve(answer)
    texts = await source(client, keywords, server.base).fetch(resolution())
    assert isinstance(texts, list)
    assert [text.content for text in texts] == [content]
    assert server.asked == ["/api/symbol/access?s=A/RES/80/193&l=en&t=pdf"]


async def test_a_web_page_with_200_means_that_there_is_no_such_symbol(serve: Serve, client: Client) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=APP, content_type="text/html")

    server = await serve(answer)
    outcome = await SymbolDocuments(client, server.base).fetch("A/RES/1/9999", "en")
    assert isinstance(outcome, Refusal)
    assert outcome.reason is Reason.MISSING
    assert "no document A/RES/1/9999 in 'en'" in str(outcome)


async def test_falls_back_to_the_files_of_the_record_then_to_the_composed_file_list(
    serve: Serve, client: Client, keywords: Keywords, shared: Path
) -> None:
    content = (shared / "un_docs/pdf/A_RES_78_264.pdf").read_bytes()

    async def answer(request: web.Request) -> web.Response:
        if request.path.endswith(".pdf"):
            return web.Response(body=content)
        if request.path == "/api/v1/file":
            rows = [{"name": "A_RES_80_193-FR", "format": ".pdf", "url": f"{server.base}/fr.pdf"},
                    {"name": "A_RES_80_193-EN", "format": ".docx", "url": f"{server.base}/en.docx"},
                    {"name": "A_RES_80_193", "format": ".pdf", "description": "English",
                     "url": f"{server.base}/en.pdf"}]  # fmt: skip
            return web.Response(text=json.dumps(rows), content_type="application/json")
        return web.Response(text=APP, content_type="text/html")

    server = await serve(answer)
    un = source(client, keywords, server.base)
    assert isinstance(await un.fetch(resolution(files=(f"{server.base}/own.pdf",))), list)
    assert server.asked[-1] == "/own.pdf"
    assert isinstance(await un.fetch(resolution()), list)
    assert server.asked[-2:] == ["/api/v1/file?recid=7", "/en.pdf"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [("no json", Reason.MISSING), ("{torn", Reason.UNREADABLE), ("{}", Reason.MISSING), ("[]", Reason.MISSING),
     ('["x", {"format": "pdf"}]', Reason.MISSING)],
)  # fmt: skip
async def test_says_why_no_way_leads_to_a_document(
    serve: Serve, client: Client, keywords: Keywords, body: str, kind: Reason
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=body if request.path == "/api/v1/file" else APP, content_type="text/html")

    server = await serve(answer)
    outcome = await source(client, keywords, server.base).fetch(resolution())
    assert isinstance(outcome, Refusal)
    assert outcome.reason is kind


async def test_a_busy_way_is_not_forgotten_for_one_that_is_closed_for_good(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=503 if "symbol" in request.path else 404)

    server = await serve(answer)
    outcome = await source(client, keywords, server.base).fetch(resolution(files=(f"{server.base}/own.pdf",)))
    assert isinstance(outcome, Refusal)
    assert outcome.reason is Reason.BUSY


@pytest.mark.parametrize(
    ("symbol", "title", "statement", "kind"),
    [("A/RES/80/193", "x", "", "resolution"), ("A/HRC/RES/50/1", "x", "", "resolution"),
     ("CERD/C/GC/35", "x", "", "general-comment"), ("CEDAW/C/ITA/CO/8", "x", "", "observations"),
     ("A/C.3/80/L.4", "x", "draft resolution", "draft"), ("A/80/PV.69", "x", "", "meeting"),
     ("A/79/316", "Racism", "report of the Special Rapporteur", "report"), ("A/HRC/DEC/3/103", "x", "", "decision"),
     ("E/1996/22", "General comment no. 5", "", "general-comment"), ("A/80/12", "x", "note verbale", "letter"),
     ("ST/SGB/2008/5", "x", "bulletin", "other")],
)  # fmt: skip
def test_tells_types_apart(symbol: str, title: str, statement: str, kind: str) -> None:
    assert type_of(symbol, title, statement) == kind


def test_cites_the_public_address() -> None:
    assert citation("S/RES/2812(2026)", "fr") == "https://docs.un.org/fr/S/RES/2812(2026)"
