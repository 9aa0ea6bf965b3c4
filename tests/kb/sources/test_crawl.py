"""Whole crawls against local servers: composed catalogue, recorded documents."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from core.domain import TargetGroup
from core.errors import Unavailable
from kb.sources import Client, CrawlOrder, DocumentStore, Keywords, Reason, Refusal, crawl
from kb.sources.document_store import MANIFEST
from kb.sources.documents import FetchedText, ListedDocument, ListingPage, Parts
from kb.sources.un_documents import SymbolDocuments
from kb.sources.undl import UnitedNations
from tests.kb.sources.shop import Shop

Serve = Callable[..., Awaitable[Any]]
TODAY = date(2025, 3, 15)
ORDER = CrawlOrder(first=2025, types=("resolution",))


def page(*symbols: str, token: str = "") -> web.Response:
    def row(symbol: str) -> str:
        fields = {
            ("191", "a"): symbol,
            ("245", "a"): f"On women {symbol}",
            ("269", "a"): "2025-01-17",
            ("650", "a"): "WOMEN",
        }
        data = "".join(f'<datafield tag="{tag}" ind1=" " ind2=" "><subfield code="{code}">{value}</subfield>'
                       "</datafield>" for (tag, code), value in fields.items())  # fmt: skip
        return f'<record><metadata><record xmlns="http://www.loc.gov/MARC21/slim">{data}</record></metadata></record>'

    text = (f'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>{"".join(map(row, symbols))}'
            f"<resumptionToken>{token}</resumptionToken></ListRecords></OAI-PMH>")  # fmt: skip
    return web.Response(text=text, content_type="text/xml")


class Library:
    """A catalogue of three windows with two pages each, and the documents behind it."""

    def __init__(self, folder: Path) -> None:
        self.files = {file.stem.replace("_", "/"): file for file in sorted(folder.glob("A_RES_*.pdf"))}
        self.symbols = list(self.files)[:12]
        self.fail: Callable[[web.Request], web.Response | None] = lambda request: None

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if broken := self.fail(request):
            return broken
        if request.path == "/oai2d":
            return self._listing(request.query)
        symbol = request.query.get("s", "")
        if symbol in self.files:
            return web.Response(body=self.files[symbol].read_bytes(), content_type="application/pdf")
        return web.Response(text="<!DOCTYPE html><html></html>", content_type="text/html")

    def _listing(self, query: Mapping[str, str]) -> web.Response:
        if token := query.get("resumptionToken"):
            month = int(token)
            return page(*self.symbols[4 * month - 2 : 4 * month])
        month = int(query["from"][5:7])
        return page(*self.symbols[4 * month - 4 : 4 * month - 2], token=str(month))


@pytest.fixture
def library(shared: Path) -> Library:
    return Library(shared / "un_docs/pdf")


def source(client: Client, keywords: Keywords, base: str) -> UnitedNations:
    return UnitedNations(client, keywords, SymbolDocuments(client, base), base, today=lambda: TODAY)


async def test_a_crawl_stores_every_document_once_with_its_hash(
    serve: Serve, client: Client, keywords: Keywords, library: Library, tmp_path: Path
) -> None:
    server = await serve(library)
    with DocumentStore(tmp_path) as store:
        tally = await crawl(source(client, keywords, server.base), store, ORDER)
        documents = list(store.documents())
    assert (tally.stored, tally.found, tally.left, tally.steps, tally.steps_total) == (12, 12, 0, 3, 3)
    assert tally.refused == Counter()
    assert {document.symbol for document in documents} == set(library.symbols)
    for document in documents:
        content = (tmp_path / document.file).read_bytes()
        assert hashlib.sha256(content).hexdigest() == document.sha256
        assert content == library.files[document.symbol].read_bytes()


async def test_a_second_run_fetches_nothing_and_lists_only_the_current_month(
    serve: Serve, client: Client, keywords: Keywords, library: Library, tmp_path: Path
) -> None:
    server = await serve(library)
    with DocumentStore(tmp_path) as store:
        await crawl(source(client, keywords, server.base), store, ORDER)
    server.asked.clear()
    with DocumentStore(tmp_path) as store:
        tally = await crawl(source(client, keywords, server.base), store, ORDER)
    assert tally.stored == 0
    assert [path.partition("ListRecords&")[2][:40] for path in server.asked] == [
        "metadataPrefix=marcxml&from=2025-03-01&u", "resumptionToken=3"]  # fmt: skip


@pytest.mark.parametrize("after", [1, 3, 6, 9, 13])
async def test_an_interruption_anywhere_leads_to_no_second_download(
    serve: Serve, client: Client, keywords: Keywords, library: Library, tmp_path: Path, after: int
) -> None:
    server = await serve(library)
    with DocumentStore(tmp_path) as store:
        unanswered = await server.interrupt(crawl(source(client, keywords, server.base), store, ORDER), after)
    with DocumentStore(tmp_path) as store:
        await crawl(source(client, keywords, server.base), store, ORDER)
        assert {document.symbol for document in store.documents()} == set(library.symbols)
    # Nothing of the answer that was held back had come; the month that is not over is listed by every run.
    requests = Counter(path for path in server.asked if "2025-03-01" not in path and "Token=3" not in path)
    assert {path: count for path, count in requests.items() if count > 1 + (path == unanswered)} == {}
    assert len([path for path in requests if "symbol/access" in path]) == 12
    assert len((tmp_path / MANIFEST).read_text().splitlines()) == 12


async def test_a_killed_process_leads_to_no_second_download(
    serve: Serve, client: Client, keywords: Keywords, library: Library, tmp_path: Path
) -> None:
    program = f"""
import asyncio, datetime, pathlib
from kb.sources import Client, Keywords, Politeness, CrawlOrder, DocumentStore, SymbolDocuments, UnitedNations, crawl

async def main():
    async with Client(["127.0.0.1"], Politeness(interval_s=0)) as client:
        un = UnitedNations(client, Keywords.load(), SymbolDocuments(client, BASE), BASE,
                           today=lambda: datetime.date(2025, 3, 15))
        with DocumentStore(pathlib.Path({str(tmp_path)!r})) as store:
            await crawl(un, store, CrawlOrder(first=2025, types=("resolution",)))

asyncio.run(main())
"""
    server = await serve(library)
    reached = asyncio.Event()

    def watch(request: web.Request) -> web.Response | None:
        if len(server.asked) >= 8:
            reached.set()
        return None

    library.fail = watch
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", program.replace("BASE", repr(server.base)))
    await asyncio.wait_for(reached.wait(), 60)
    child.kill()
    await child.wait()
    with DocumentStore(tmp_path) as store:
        kept = [f"/api/symbol/access?s={document.symbol}&l=en&t=pdf" for document in store.documents()]
        assert all((tmp_path / document.file).is_file() for document in store.documents())
        server.asked.clear()
        await crawl(source(client, keywords, server.base), store, ORDER)
        assert {document.symbol for document in store.documents()} == set(library.symbols)
    assert not set(kept) & set(server.asked)


async def test_reports_every_pitfall_and_stores_none_of_them(
    serve: Serve, client: Client, keywords: Keywords, library: Library, tmp_path: Path, shared: Path
) -> None:
    challenge = (shared / "eurlex/recorded_http/eurlex_aws_waf_challenge_202.html").read_bytes()
    challenged, missing, truncated, empty, busy = library.symbols[:5]
    torn = library.files[truncated].read_bytes()[:-5000]

    def fail(request: web.Request) -> web.Response | None:
        answers = {challenged: (challenge, 202), missing: (b"<!DOCTYPE html><html></html>", 200),
                   truncated: (torn, 200), empty: (b"", 200), busy: (b"busy", 503)}  # fmt: skip
        body, status = answers.get(request.query.get("s", ""), (None, 0))
        return None if body is None else web.Response(body=body, status=status)

    library.fail = fail
    server = await serve(library)
    with DocumentStore(tmp_path) as store:
        tally = await crawl(source(client, keywords, server.base), store, ORDER)
        stored = {document.symbol for document in store.documents()}
    assert stored == set(library.symbols[5:])
    assert tally.refused == {
        Reason.CHALLENGE: 1,
        Reason.MISSING: 1,
        Reason.TRUNCATED: 1,
        Reason.EMPTY: 1,
        Reason.BUSY: 1,
    }
    assert tally.left == 3
    files = [file for file in tmp_path.rglob("*.pdf") if file.is_file()]
    assert len(files) == 7


async def test_stores_what_two_symbols_share_once(
    serve: Serve, client: Client, keywords: Keywords, library: Library, tmp_path: Path
) -> None:
    library.files[library.symbols[1]] = library.files[library.symbols[0]]
    server = await serve(library)
    with DocumentStore(tmp_path) as store:
        tally = await crawl(source(client, keywords, server.base), store, ORDER)
    assert (tally.stored, tally.repeated, tally.left) == (11, 1, 0)


@pytest.mark.parametrize("most", [1, 2, 5])
async def test_stops_at_the_number_asked_for_and_goes_on_from_there(
    serve: Serve, client: Client, keywords: Keywords, library: Library, tmp_path: Path, most: int
) -> None:
    server = await serve(library)
    order = ORDER.model_copy(update={"most": most})
    for _ in range(2):
        with DocumentStore(tmp_path) as store:
            tally = await crawl(source(client, keywords, server.base), store, order)
        assert tally.stored == most
    assert sum("symbol/access" in path for path in server.asked) == 2 * most


async def test_refusals_do_not_count_towards_the_number_asked_for(
    serve: Serve, client: Client, keywords: Keywords, library: Library, tmp_path: Path
) -> None:
    missing = set(library.symbols[::2])
    library.fail = lambda request: web.Response(status=404) if request.query.get("s") in missing else None
    server = await serve(library)
    with DocumentStore(tmp_path) as store:
        tally = await crawl(source(client, keywords, server.base), store, ORDER.model_copy(update={"most": 5}))
    assert tally.stored == 5


async def test_takes_only_the_groups_years_and_types_asked_for(
    serve: Serve, client: Client, keywords: Keywords, library: Library, tmp_path: Path
) -> None:
    server = await serve(library)
    un = source(client, keywords, server.base)
    for change in ({"groups": (TargetGroup.JEWS,)}, {"first": 2025, "last": 2024}, {"types": ("report",)}):
        with DocumentStore(tmp_path) as store:
            assert (await crawl(un, store, ORDER.model_copy(update=change))).stored == 0
    with DocumentStore(tmp_path) as store:
        assert (await crawl(un, store, ORDER)).stored == 12


async def test_says_why_a_listing_stopped_and_still_fetches_what_it_found(
    serve: Serve, client: Client, keywords: Keywords, library: Library, tmp_path: Path
) -> None:
    library.fail = lambda request: web.Response(status=503) if request.query.get("from") == "2025-02-01" else None
    server = await serve(library)
    with DocumentStore(tmp_path) as store:
        tally = await crawl(source(client, keywords, server.base), store, ORDER)
    assert tally.stored == 4
    assert "server busy" in tally.stopped


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [(500, b"", "server error"), (504, b"", "out of time"), (403, b"", "forbidden"), (200, b"", "empty answer"),
     (200, b'<?xml version="1.0"?><OAI-PMH><Lis', "truncated"), (200, b"<!doctype html></html>", "wrong format")],
)  # fmt: skip
async def test_says_that_a_window_in_the_middle_could_not_be_listed_and_lists_it_next_time(
    serve: Serve, client: Client, keywords: Keywords, library: Library, tmp_path: Path, status: int, body: bytes,
    kind: str,
) -> None:  # fmt: skip
    server = await serve(library)
    library.fail = lambda request: (
        web.Response(status=status, body=body) if request.query.get("from") == "2025-02-01" else None
    )
    with DocumentStore(tmp_path) as store:
        tally = await crawl(source(client, keywords, server.base), store, ORDER)
        assert (tally.stored, tally.stopped.partition(":")[0]) == (8, kind)
        library.fail = lambda request: None
        tally = await crawl(source(client, keywords, server.base), store, ORDER)
        assert (tally.stored, tally.stopped) == (4, "")


async def test_a_single_record_that_does_not_exist_is_refused_but_nothing_to_go_on_with(
    serve: Serve, client: Client, keywords: Keywords, library: Library, tmp_path: Path
) -> None:
    library.fail = lambda request: web.Response(status=404)
    server = await serve(library)
    with DocumentStore(tmp_path) as store:
        tally = await crawl(source(client, keywords, server.base), store, CrawlOrder(only=("1", "2")))
    assert (tally.refused, tally.stopped, tally.steps) == ({Reason.MISSING: 2}, "", 2)


async def test_says_that_the_disk_cannot_be_written_and_loses_nothing(
    serve: Serve, client: Client, keywords: Keywords, library: Library, tmp_path: Path
) -> None:
    (tmp_path / "united_nations").write_text("in the way")
    server = await serve(library)
    with DocumentStore(tmp_path) as store, pytest.raises(Unavailable, match="can't be stored"):
        await crawl(source(client, keywords, server.base), store, ORDER)
    (tmp_path / "united_nations").unlink()
    fetched = [path for path in server.asked if "symbol/access" in path]
    with DocumentStore(tmp_path) as store:
        assert len(list(store.documents())) >= 1
        assert all((tmp_path / document.file).is_file() for document in store.documents())
        kept = {f"/api/symbol/access?s={document.symbol}&l=en&t=pdf" for document in store.documents()}
    assert kept <= set(fetched)


class Store(Shop):
    """A source of more documents than the queue and the workers hold."""

    async def listing(self, order: CrawlOrder, bookmarks: Mapping[str, str]) -> AsyncGenerator[ListingPage | Refusal]:
        async for item in super().listing(order, bookmarks):
            assert isinstance(item, ListingPage)
            names = (f"A/{number}" for number in range(20))
            yield ListingPage(
                tuple(item.documents[0].model_copy(update={"id": name, "symbol": name}) for name in names)
            )


async def test_a_full_disk_ends_a_crawl_whose_queue_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: DocumentStore, document: ListedDocument, texts: list[FetchedText]) -> int:
        raise Unavailable("no space left")

    monkeypatch.setattr(DocumentStore, "put", full)
    with DocumentStore(tmp_path) as store:
        task = asyncio.create_task(crawl(Store(), store, CrawlOrder(types=("resolution",))))
        done, _ = await asyncio.wait([task], timeout=60)  # A crawl that hangs would swallow asyncio.timeout too.
        assert done
        with pytest.raises(Unavailable, match="no space left"):
            task.result()


async def test_an_interruption_ends_a_crawl_whose_queue_is_full(tmp_path: Path) -> None:
    waiting = asyncio.Event()

    class Slow(Store):
        async def fetch(self, document: ListedDocument, parts: Parts) -> list[FetchedText] | Refusal:
            waiting.set()
            await asyncio.Event().wait()
            raise AssertionError("it was not cancelled")

    with DocumentStore(tmp_path) as store:
        task = asyncio.create_task(crawl(Slow(), store, CrawlOrder(types=("resolution",))))
        async with asyncio.timeout(60):
            await waiting.wait()
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=60)
        task.cancel()
    assert done and task.cancelled()
