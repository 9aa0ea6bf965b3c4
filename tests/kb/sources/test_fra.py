"""The recorded head of an FRA page, replayed; pages and lists around it are composed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from core.domain import TargetGroup
from kb.sources import Client, CrawlOrder, Keywords, Reason, Refusal
from kb.sources.documents import ListedDocument, ListingPage
from kb.sources.fra import FundamentalRightsAgency, read_publication, type_of

Serve = Callable[..., Awaitable[Any]]
ORDER = CrawlOrder(first=2020, last=2025, types=FundamentalRightsAgency.usual_types)
FILES = "/sites/default/files/fra_uploads"


def html(body: str) -> web.Response:
    return web.Response(text=f"<!DOCTYPE html><html><body>{body}</body></html>", content_type="text/html")


def links(*paths: str) -> web.Response:
    return html("<main>" + "".join(f'<a href="{path}">read</a>' for path in paths) + "</main>")


def publication(title: str, *files: str, theme: str = "roma") -> web.Response:
    """Compose a publication's page."""
    rows = "".join(f'<a href="{file}">Download</a>' for file in files)
    menu = '<nav><a href="/en/themes/hate-crime">Hate crime</a></nav>'
    return html(
        f'<meta property="og:title" content="{title}"/>'
        f'<meta property="article:published_time" content="2023-06-30T17:03:32+02:00"/>{menu}'
        f'<main>{menu}<a href="/en/themes/{theme}">Theme</a><p>Words about it.</p>{rows}</main>'
    )


async def listed(
    fra: FundamentalRightsAgency, order: CrawlOrder, bookmarks: Mapping[str, str] | None = None
) -> list[ListingPage | Refusal]:
    return [item async for item in fra.listing(order, bookmarks or {})]


def documents(items: Sequence[ListingPage | Refusal]) -> list[ListedDocument]:
    return [document for item in items if isinstance(item, ListingPage) for document in item.documents]


def kinds(items: Sequence[ListingPage | Refusal]) -> list[Reason]:
    return [refusal.reason for item in items for refusal in ((item,) if isinstance(item, Refusal) else item.refused)]


def test_reads_title_and_date_from_the_recorded_head(shared: Path) -> None:
    content = (shared / "fra/recorded_head_publication_2023_fra-deaths-sea-paper.html").read_bytes()
    page = read_publication(content, "https://fra.europa.eu", "en")
    assert page.title == "Preventing and responding to deaths at sea: what the European Union can do"
    assert (page.year, page.files) == (2023, ())


async def test_a_recorded_page_that_breaks_off_is_no_page(
    serve: Serve, client: Client, keywords: Keywords, shared: Path
) -> None:
    content = (shared / "fra/recorded_head_publication_2023_fra-deaths-sea-paper.html").read_bytes()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=content, content_type="text/html")

    server = await serve(answer)
    fra = FundamentalRightsAgency(client, keywords, server.base)
    assert kinds(await listed(fra, CrawlOrder(only=("2023/fra-deaths-sea-paper",)))) == [Reason.TRUNCATED]


async def test_lists_composed_pages_until_one_brings_nothing(serve: Serve, client: Client, keywords: Keywords) -> None:
    pages = [("/en/publication/2024/being-muslim-eu", "/en/news/2024/x"), ("/en/publication/2022/roma-survey",), ()]

    async def answer(request: web.Request) -> web.Response:
        if request.path == "/en/products/search":
            return links(*pages[int(request.query["page"])])
        slug = request.path.rpartition("/")[2]
        return publication(f"About {slug}", f"{FILES}/fra-{slug}_en.pdf", f"{FILES}/fra-{slug}_de.pdf")

    server = await serve(answer)
    items = await listed(FundamentalRightsAgency(client, keywords, server.base), ORDER)
    assert [document.symbol for document in documents(items)] == ["being-muslim-eu", "roma-survey"]
    assert server.asked == [
        "/en/products/search?page=0", "/en/publication/2024/being-muslim-eu", "/en/products/search?page=1",
        "/en/publication/2022/roma-survey", "/en/products/search?page=2"]  # fmt: skip
    (first, *_) = documents(items)
    assert first.files == (f"{server.base}{FILES}/fra-being-muslim-eu_en.pdf",)
    assert first.url == "https://fra.europa.eu/en/publication/2024/being-muslim-eu"
    assert first.institution == "EU Agency for Fundamental Rights"
    assert first.groups == (TargetGroup.MUSLIMS, TargetGroup.OTHER)
    last = items[-1]
    assert isinstance(last, ListingPage)
    assert dict(last.bookmarks) == {"en/2020-2025/page": None}


async def test_goes_on_from_its_page_and_looks_at_no_publication_twice(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/en/products/search":
            return (
                links("/en/publication/2024/a", "/en/publication/2024/b") if request.query["page"] == "3" else links()
            )
        return publication("Roma", f"{FILES}/b_en.pdf")

    server = await serve(answer)
    bookmarks = {"en/2020-2025/page": "3", "en/en/publication/2024/a": "seen"}
    items = await listed(FundamentalRightsAgency(client, keywords, server.base), ORDER, bookmarks)
    assert [document.symbol for document in documents(items)] == ["b"]
    assert "/en/publication/2024/a" not in server.asked


async def test_opens_no_page_of_another_year_and_stops_behind_the_first_year(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.query.get("page") == "0":
            return links("/en/publication/2026/new", "/en/publication/2021/mid")
        return links("/en/publication/2019/old") if "search" in request.path else publication("Roma", f"{FILES}/m.pdf")

    server = await serve(answer)
    items = await listed(FundamentalRightsAgency(client, keywords, server.base), ORDER)
    assert [document.symbol for document in documents(items)] == ["mid"]
    assert server.asked[-1] == "/en/products/search?page=1"


async def test_reports_a_first_page_without_publications(serve: Serve, client: Client, keywords: Keywords) -> None:
    async def answer(request: web.Request) -> web.Response:
        return links("/en/about")

    server = await serve(answer)
    assert kinds(await listed(FundamentalRightsAgency(client, keywords, server.base), ORDER)) == [Reason.EMPTY]


async def test_passes_over_a_link_that_is_no_address(serve: Serve, client: Client, keywords: Keywords) -> None:
    async def answer(request: web.Request) -> web.Response:
        if "search" in request.path:
            page = request.query["page"]
            return links("http://[draft", "/en/publication/2024/a") if page == "0" else links("http://[draft")
        return publication("Roma", "http://[draft", f"{FILES}/a_en.pdf")

    server = await serve(answer)
    items = await listed(FundamentalRightsAgency(client, keywords, server.base), ORDER)
    assert [document.files for document in documents(items)] == [(f"{server.base}{FILES}/a_en.pdf",)]


@pytest.mark.parametrize("content", [b"<!doctype html>", b"<html><!-- x --></html>", b"<html></html>"])
def test_a_page_that_holds_nothing_is_no_publication(content: bytes) -> None:
    assert read_publication(content, "https://fra.europa.eu", "en").files == ()


async def test_reports_a_publication_without_a_file_and_remembers_it(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    async def answer(request: web.Request) -> web.Response:
        if "search" in request.path:
            return links("/en/publication/2024/a") if request.query["page"] == "0" else links()
        return publication("Roma", f"{FILES}/a_fr.pdf", "/sites/default/files/x.docx")

    server = await serve(answer)
    items = await listed(FundamentalRightsAgency(client, keywords, server.base), ORDER)
    assert kinds(items) == [Reason.MISSING]
    assert any(isinstance(item, ListingPage) and "en/en/publication/2024/a" in item.bookmarks for item in items)


async def test_names_further_files_of_a_publication_apart(serve: Serve, client: Client, keywords: Keywords) -> None:
    async def answer(request: web.Request) -> web.Response:
        return publication("Roma", f"{FILES}/roma_en.pdf", f"{FILES}/roma-summary_en.pdf")

    server = await serve(answer)
    fra = FundamentalRightsAgency(client, keywords, server.base)
    files = documents(await listed(fra, CrawlOrder(only=("2022/roma-survey",))))
    assert [file.id for file in files] == ["roma-survey", "roma-survey/roma-summary_en"]


async def test_a_web_page_in_place_of_the_pdf_is_no_document(serve: Serve, client: Client, keywords: Keywords) -> None:
    async def answer(request: web.Request) -> web.Response:
        return publication("Roma", f"{FILES}/roma_en.pdf")

    server = await serve(answer)
    fra = FundamentalRightsAgency(client, keywords, server.base)
    (document,) = documents(await listed(fra, CrawlOrder(only=("2022/roma-survey",))))
    outcome = await fra.fetch(document)
    assert isinstance(outcome, Refusal)
    assert outcome.reason is Reason.WRONG_FORMAT


@pytest.mark.parametrize(
    ("title", "kind"),
    [("Being Black in the EU", "report"), ("Handbook on European law", "handbook"), ("Opinion on ETIAS", "opinion"),
     ("Fundamental Rights Report 2024", "annual"), ("Roma survey - at a glance", "factsheet")],
)  # fmt: skip
def test_tells_types_by_titles(title: str, kind: str) -> None:
    assert type_of(title) == kind
