"""Whole crawls of EU law and of FRA: recorded texts, pages and lists composed around them, through `open_source`."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner
from yarl import URL

import kb.sources
from core.domain import TargetGroup
from kb.sources import (
    SOURCES,
    Cellar,
    Client,
    CrawlOrder,
    CrawlReport,
    DocumentStore,
    FundamentalRightsAgency,
    ListedDocument,
    Politeness,
    Reason,
    Refusal,
    crawl,
    open_source,
)
from kb.sources.document_store import MANIFEST
from kb.sources.validation import Format
from rejoinder.commands.kb_crawl import crawl as command

Serve = Callable[..., Awaitable[Any]]
LAW = CrawlOrder(groups=(TargetGroup.WOMEN,), first=2021, last=2024, types=("directive", "regulation"))
REPORTS = CrawlOrder(first=2008, last=2025, types=FundamentalRightsAgency.usual_types)
SINGLE = ("32006L0054", "32016L0680", "32024L1500")


class Repository:
    """A small CELLAR: three recorded directives, and an act whose list of choices leads to three texts."""

    def __init__(self, shared: Path) -> None:
        folder = shared / "eurlex"
        self.texts = {f"/resource/cellar/{celex}/DOC_1": (folder / f"cellar_xhtml/{celex}.en.xhtml").read_bytes()
                      for celex in SINGLE}  # fmt: skip
        formex = (folder / "formex/32022R2065.L_2022277EN.01000101.fmx.xml").read_bytes()
        self.parts = [f"/resource/cellar/3e485e15.0006.02/DOC_{number}" for number in (2, 3, 4)]
        self.texts |= {path: formex + b"\n" * number for number, path in enumerate(self.parts)}
        self.fail: Callable[[web.Request], web.Response | None] = lambda request: None

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if broken := self.fail(request):
            return broken
        if request.path == "/sparql":
            return self._results(request.query["query"])
        if request.path in self.texts:
            return web.Response(body=self.texts[request.path], content_type="application/xml")
        celex = request.path.rpartition("/")[2]
        if celex in SINGLE:
            raise web.HTTPSeeOther(f"/resource/cellar/{celex}/DOC_1")
        if celex != "32022R2065" or request.headers["Accept"] != "application/xml;type=fmx4":
            return web.Response(status=404)
        items = "".join(
            f'<li title="item"><a href="http://publications.europa.eu{path}">x</a><ul><li title="stream_name">L.xml'
            f'</li><li title="stream_order">{number}</li></ul></li>'
            for number, path in enumerate(self.parts)
        )
        return web.Response(text=f"<html><body><ul>{items}</ul></body></html>", status=300, content_type="text/html")

    @staticmethod
    def _results(query: str) -> web.Response:
        """Compose SPARQL results: the acts asked for by number, or those of one year."""
        works = {celex: f"{celex[1:5]}-05-14" for celex in (*SINGLE, "32022R2065")}
        year = query.partition('?date >= "')[2][:4]
        rows = [{"celex": {"value": celex}, "date": {"value": day}, "title": {"value": f"Act {celex}"}}
                for celex, day in works.items() if (day[:4] == year if year else f'"{celex}"' in query)]  # fmt: skip
        return web.Response(text=json.dumps({"results": {"bindings": rows}}), content_type="application/json")


class Agency:
    """A small FRA: ten pages of a search, newest first, a publication on each; their PDFs are recorded documents."""

    def __init__(self, shared: Path) -> None:
        self.years = (2024, 2023, 2021, 2020, 2012, 2011, 2010, 2010, 2009, 2008)
        self.files = sorted((shared / "un_docs/pdf").glob("*.pdf"))[: len(self.years)]
        head = shared / "fra/recorded_head_publication_2023_fra-deaths-sea-paper.html"
        self._head = head.read_text(encoding="utf-8").partition('<meta property="article')[0]
        self.fail: Callable[[web.Request], web.Response | None] = lambda request: None

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if broken := self.fail(request):
            return broken
        if request.path == "/en/products/search":
            number = int(request.query["page"])
            year = self.years[number] if number < len(self.years) else 0
            return self._page(f'<main><a href="/en/publication/{year}/roma-{number}">read</a></main>' if year else "")
        number = int(request.path.removesuffix("_en.pdf").rpartition("-")[2])
        if request.path.endswith(".pdf"):
            return web.Response(body=self.files[number].read_bytes(), content_type="application/pdf")
        file = f"/sites/default/files/fra_uploads/roma-{number}_en.pdf"
        date = f'<meta property="article:published_time" content="{self.years[number]}-06-30T17:03:32+02:00" /></head>'
        main = f'<main><a href="/en/themes/roma">Roma</a><a href="{file}">Download</a></main>'
        return web.Response(text=f"{self._head}{date}<body>{main}</body></html>", content_type="text/html")

    @staticmethod
    def _page(body: str) -> web.Response:
        return web.Response(text=f"<!DOCTYPE html><html><body>{body}</body></html>", content_type="text/html")


@pytest.fixture
def repository(shared: Path) -> Repository:
    return Repository(shared)


@pytest.fixture
def agency(shared: Path) -> Agency:
    return Agency(shared)


@pytest.fixture
async def start(serve: Serve, monkeypatch: pytest.MonkeyPatch, quick: Politeness) -> Callable[..., Awaitable[Any]]:
    """Serve, and let `open_source` find its sources there."""

    async def begin(handler: Repository | Agency) -> Any:
        server = await serve(handler)
        monkeypatch.setattr(kb.sources, "Client", lambda domains, contact="": Client(["127.0.0.1"], quick, contact))
        monkeypatch.setattr(
            kb.sources, "Cellar", partial(Cellar, sparql=f"{server.base}/sparql", resources=server.base)
        )
        monkeypatch.setattr(kb.sources, "FundamentalRightsAgency", partial(FundamentalRightsAgency, base=server.base))
        return server

    return begin


async def crawled(name: str, folder: Path, order: CrawlOrder) -> CrawlReport:
    """Crawl once, as one run of the command does."""
    with DocumentStore(folder) as store:
        async with open_source(name) as source:
            return await crawl(source, store, order)


def stored(folder: Path) -> list[str]:
    return [json.loads(line)["id"] for line in (folder / MANIFEST).read_text(encoding="utf-8").splitlines()]


def documents(paths: Sequence[str]) -> Counter[str]:
    return Counter(path for path in paths if path.startswith("/resource/cellar/") or path.endswith(".pdf"))


class Unplugged(Client):
    """A client that refuses every address: as foreign where it may not be asked for, else as closed."""

    async def get(
        self,
        url: str,
        formats: Collection[Format],
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Refusal:
        return self._outside_domains(URL(url)) or Refusal(Reason.CLOSED, url, "unplugged")


@pytest.mark.parametrize("name", SOURCES)
async def test_opens_each_source_at_addresses_that_it_may_ask(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kb.sources, "Client", Unplugged)
    directive = ListedDocument(id="32006L0054", title="x", institution="x", type="x", symbol="32006L0054", year=2020,
                    url="x", groups=(), files=("https://fra.europa.eu/sites/default/files/x.pdf",))  # fmt: skip
    async with open_source(name) as source, aclosing(source.listing(LAW, {})) as listing:
        for answer in (await anext(listing), await source.fetch(directive, {})):
            assert isinstance(answer, Refusal)
            assert (answer.reason, source.name) == (Reason.CLOSED, name)


@pytest.mark.parametrize("after", [1, 3, 5, 7, 10, 12])
async def test_an_interrupted_crawl_of_eu_law_goes_on_without_a_second_download(
    start: Serve, repository: Repository, tmp_path: Path, after: int
) -> None:
    server = await start(repository)
    unanswered = await server.interrupt(crawled("eurlex", tmp_path, LAW), after)
    tally = await crawled("eurlex", tmp_path, LAW)
    assert (tally.left, tally.stopped, tally.refused) == (0, "", Counter())
    assert sorted(stored(tmp_path)) == ["32022R2065#1", "32022R2065#2", "32022R2065#3", "32024L1500"]
    paths = ["/resource/cellar/32024L1500/DOC_1", *repository.parts]
    assert documents(server.asked) == Counter(paths) + Counter(path for path in paths if path == unanswered)
    contents = {file.read_bytes() for file in (tmp_path / "european_union").iterdir()}
    assert contents == {repository.texts[path] for path in paths}
    server.asked.clear()
    assert (await crawled("eurlex", tmp_path, LAW)).stored == 0
    assert documents(server.asked) == Counter()


@pytest.mark.parametrize("after", [1, 2, 5, 11, 20, 29])
async def test_an_interrupted_crawl_of_fra_goes_on_without_a_second_download(
    start: Serve, agency: Agency, tmp_path: Path, after: int
) -> None:
    server = await start(agency)
    unanswered = await server.interrupt(crawled("fra", tmp_path, REPORTS), after)
    tally = await crawled("fra", tmp_path, REPORTS)
    assert (tally.left, tally.stopped, tally.refused) == (0, "", Counter())
    assert len(stored(tmp_path)) == 10
    requests = Counter(path for path in server.asked if "search" not in path)
    assert len(requests) == 20
    assert {path: count for path, count in requests.items() if count != 1 + (path == unanswered)} == {}
    contents = {file.read_bytes() for file in tmp_path.glob("eu_agency*/*.pdf")}
    assert contents == {file.read_bytes() for file in agency.files}


async def test_the_command_crawls_eu_law_by_number_and_says_what_it_did_not_find(
    start: Serve, repository: Repository, tmp_path: Path
) -> None:
    server = await start(repository)
    arguments = ["eurlex", "--only", "32006L0054,39999L9999,32022R2065", "--out", str(tmp_path)]
    first, second = [await asyncio.to_thread(CliRunner().invoke, command, arguments) for _ in range(2)]
    assert f"2 documents stored in {tmp_path}" in first.output
    assert "no act has this CELEX number and a title in 'en' (39999L9999)" in first.output
    assert "Run the same command again" not in first.output
    assert "0 documents stored" in second.output
    assert set(documents(server.asked).values()) == {1}


async def test_the_command_crawls_fra_and_says_that_the_search_broke_off(
    start: Serve, agency: Agency, tmp_path: Path
) -> None:
    server = await start(agency)
    agency.fail = lambda request: web.Response(status=500) if request.query.get("page") == "2" else None
    arguments = ["fra", "--from", "2020", "--out", str(tmp_path)]
    first = await asyncio.to_thread(CliRunner().invoke, command, arguments)
    assert f"2 documents stored in {tmp_path}" in first.output
    assert "The listing is not whole: server error: status 500" in first.output
    assert "Run the same command again to go on." in first.output
    agency.fail = lambda request: None
    second = await asyncio.to_thread(CliRunner().invoke, command, arguments)
    assert f"2 documents stored in {tmp_path}" in second.output
    assert "not whole" not in second.output
    assert set(documents(server.asked).values()) == {1}


async def test_two_orders_on_one_store_have_a_place_in_the_search_each(
    start: Serve, agency: Agency, tmp_path: Path
) -> None:
    server = await start(agency)
    old = CrawlOrder(first=2008, last=2012, types=REPORTS.types, most=1)
    new = CrawlOrder(first=2020, last=2025, types=REPORTS.types)
    assert (await crawled("fra", tmp_path, old)).stored == 1
    assert (await crawled("fra", tmp_path, new)).stored == 4
    server.asked.clear()
    assert (await crawled("fra", tmp_path, old.model_copy(update={"most": None}))).stored == 5
    # Its own place, and the two publications that make up the years between, were kept.
    assert "/en/products/search?page=0" not in server.asked
    assert len(stored(tmp_path)) == 10


async def test_two_orders_of_eu_law_on_one_store_hide_nothing_from_each_other(
    start: Serve, repository: Repository, tmp_path: Path
) -> None:
    await start(repository)
    directives = LAW.model_copy(update={"types": ("directive",), "most": 2, "first": 2010})
    assert (await crawled("eurlex", tmp_path, directives)).stored == 2
    with DocumentStore(tmp_path) as store:
        assert "en/directive/women/2022" in store.bookmarks("eurlex")
    await crawled("eurlex", tmp_path, LAW.model_copy(update={"types": ("regulation",)}))
    assert sorted(stored(tmp_path)) == [
        "32016L0680", "32022R2065#1", "32022R2065#2", "32022R2065#3", "32024L1500"]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [(500, b"", "server error"), (504, b"", "out of time"), (404, b"", "missing"), (200, b"", "empty answer"),
     (200, b"<!doctype html><html><body>", "truncated")],
)  # fmt: skip
async def test_a_page_of_the_search_that_fails_for_good_is_told_and_asked_for_again(
    start: Serve, agency: Agency, tmp_path: Path, status: int, body: bytes, kind: str
) -> None:
    await start(agency)
    agency.fail = lambda request: web.Response(status=status, body=body) if request.query.get("page") == "3" else None
    tally = await crawled("fra", tmp_path, REPORTS)
    assert (tally.stored, tally.stopped.partition(":")[0]) == (3, kind)
    agency.fail = lambda request: None
    tally = await crawled("fra", tmp_path, REPORTS)
    assert (tally.stored, tally.stopped) == (7, "")


async def test_a_publication_that_is_gone_leaves_the_listing_whole_and_a_broken_one_does_not(
    start: Serve, agency: Agency, tmp_path: Path
) -> None:
    await start(agency)
    status = {"/en/publication/2024/roma-0": 404, "/en/publication/2021/roma-2": 500}
    agency.fail = lambda request: web.Response(status=status[request.path]) if request.path in status else None
    tally = await crawled("fra", tmp_path, REPORTS)
    assert (tally.stored, tally.stopped.partition(":")[0]) == (8, "server error")
    status["/en/publication/2021/roma-2"] = 404
    tally = await crawled("fra", tmp_path, REPORTS)
    assert (tally.refused, tally.stopped) == ({Reason.MISSING: 2}, "")


async def test_a_question_to_the_endpoint_that_fails_for_good_is_told_and_asked_again(
    start: Serve, repository: Repository, tmp_path: Path
) -> None:
    await start(repository)
    error = "Virtuoso 37000 Error SP030: SPARQL compiler, line 2"
    repository.fail = lambda request: (
        web.Response(text=error) if '?date >= "2022' in request.query.get("query", "") else None
    )
    tally = await crawled("eurlex", tmp_path, LAW)
    assert (stored(tmp_path), tally.stopped.partition(":")[0]) == (["32024L1500"], "endpoint error")
    repository.fail = lambda request: None
    tally = await crawled("eurlex", tmp_path, LAW)
    assert (tally.stored, tally.stopped) == (1, "")


async def test_parts_that_came_are_not_asked_for_again_when_a_later_one_was_refused(
    start: Serve, repository: Repository, tmp_path: Path
) -> None:
    server = await start(repository)
    repository.fail = lambda request: web.Response(status=503) if request.path == repository.parts[2] else None
    tally = await crawled("eurlex", tmp_path, LAW)
    assert (tally.left, tally.refused, stored(tmp_path)) == (1, {Reason.BUSY: 1}, ["32024L1500"])
    server.asked.clear()
    repository.fail = lambda request: None
    tally = await crawled("eurlex", tmp_path, LAW)
    assert (tally.stored, tally.left) == (1, 0)
    assert list(documents(server.asked)) == [repository.parts[2]]
    assert list((tmp_path / ".part").iterdir()) == []
