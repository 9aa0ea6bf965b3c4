"""Recorded CELLAR answers, replayed; SPARQL results are composed after the recorded one."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from core.domain import TargetGroup
from kb.sources import Client, CrawlOrder, Keywords, Reason, Refusal
from kb.sources.cellar import Cellar, parts_of
from kb.sources.documents import ListedDocument, ListingPage
from kb.sources.eurlex import ROWS, EuropeanUnion, citation, type_of
from kb.sources.validation import Format

Serve = Callable[..., Awaitable[Any]]
ORDER = CrawlOrder(groups=(TargetGroup.WOMEN,), first=2023, last=2024, types=("directive",))


def results(rows: Sequence[tuple[str, str, str]]) -> web.Response:
    """Compose SPARQL results."""
    bindings = [
        {"celex": {"value": celex}, "date": {"value": day}, "title": {"value": title}} for celex, day, title in rows
    ]
    return web.Response(text=json.dumps({"head": {}, "results": {"bindings": bindings}}),
                        content_type="application/sparql-results+json")  # fmt: skip


def union(client: Client, keywords: Keywords, base: str) -> EuropeanUnion:
    return EuropeanUnion(Cellar(client, f"{base}/sparql", base), keywords)


async def listed(
    eu: EuropeanUnion, order: CrawlOrder, bookmarks: Mapping[str, str] | None = None
) -> list[ListingPage | Refusal]:
    return [item async for item in eu.listing(order, bookmarks or {})]


def documents(items: Sequence[ListingPage | Refusal]) -> list[ListedDocument]:
    return [document for item in items if isinstance(item, ListingPage) for document in item.documents]


def kinds(items: Sequence[ListingPage | Refusal]) -> list[Reason]:
    return [refusal.reason for item in items for refusal in ((item,) if isinstance(item, Refusal) else item.refused)]


async def test_asks_for_known_acts_then_for_each_group_and_year(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    queries: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        queries.append(request.query["query"])
        if "VALUES ?celex" in queries[-1]:
            return results([("32006L0054", "2006-07-05", "Directive 2006/54/EC of the European Parliament")])
        year = queries[-1].partition('?date >= "')[2][:4]
        return results([(f"3{year}L0001", f"{year}-05-07", f"A directive of {year}")])

    server = await serve(answer)
    eu = union(client, keywords, server.base)
    items = await listed(eu, ORDER)
    assert [document.id for document in documents(items)] == ["32006L0054", "32024L0001", "32023L0001"]
    assert eu.steps(ORDER) == sum(item.steps for item in items if isinstance(item, ListingPage)) == 3
    assert '"32006L0054"^^xsd:string' in queries[0]
    assert '"gender equality"@en' in queries[1]
    assert '"^(3[0-9]{4}L[0-9]{4})([(][0-9]{2}[)])?$"' in queries[1]
    assert "language/ENG" in queries[1]
    assert not any(re.search(r"\$\{", query) for query in queries)
    assert dict(request_params(server.asked[0]))["format"] == "application/sparql-results+json"


def request_params(path: str) -> list[tuple[str, str]]:
    from urllib.parse import parse_qsl

    return parse_qsl(path.partition("?")[2])


async def test_reads_the_recorded_results(serve: Serve, client: Client, shared: Path) -> None:
    content = (shared / "eurlex/sparql_meta_caselaw_recorded.json").read_bytes()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=content, content_type="application/sparql-results+json")

    server = await serve(answer)
    rows = await Cellar(client, server.base).rows("by_celex", celex="", language="FRA")
    assert isinstance(rows, list)
    assert (rows[0].celex, rows[0].year) == ("62019CC0030", 2020)
    assert rows[0].title.startswith("Conclusions de l'avocat général M. H. Saugmandsgaard Øe")
    assert "#" not in rows[0].title


async def test_pages_by_the_last_number_and_goes_on_from_it(serve: Serve, client: Client, keywords: Keywords) -> None:
    afters: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        query = request.query["query"]
        if "VALUES ?celex" in query:
            return results([("32006L0054", "2006-07-05", "x")])
        afters.append(query.partition('STR(?celex) > "')[2].partition('"')[0])
        count = ROWS if afters[-1] == "32023L0100" else 3
        return results([(f"32023L{number + 1000}", "2023-01-01", "x") for number in range(count)])

    server = await serve(answer)
    name = "en/directive/women/2023"
    bookmarks = {name: "32023L0100", "en/directive/women/2024": "done"}
    items = await listed(union(client, keywords, server.base), ORDER, bookmarks)
    assert afters == ["32023L0100", f"32023L{ROWS + 999}"]
    marks = [dict(item.bookmarks) for item in items if isinstance(item, ListingPage)]
    assert marks[1:] == [
        {name: f"32023L{ROWS + 999}"},
        {name: "done"},
        {"en/directive/women/2024": None, name: None},
    ]


async def test_a_work_with_two_rows_on_a_full_page_does_not_end_its_slice(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    async def answer(request: web.Request) -> web.Response:
        query = request.query["query"]
        if "VALUES ?celex" in query:
            return results([("32006L0054", "2006-07-05", "x")])
        if f'"32023L{ROWS + 998}"' in query:
            return results([("32023L9999", "2023-01-01", "The last")])
        rows = [(f"32023L{number + 1000}", "2023-01-01", "x") for number in range(ROWS - 1)]
        return results([*rows[:1], *rows])

    server = await serve(answer)
    bookmarks = {"en/directive/women/2024": "done"}
    acts = documents(await listed(union(client, keywords, server.base), ORDER, bookmarks))
    symbols = [act.symbol for act in acts if act.year == 2023]
    assert len(symbols) == len(set(symbols)) == ROWS
    assert symbols[-1] == "32023L9999"


async def test_keeps_every_place_while_a_slice_is_refused(serve: Serve, client: Client, keywords: Keywords) -> None:
    async def answer(request: web.Request) -> web.Response:
        query = request.query["query"]
        if "VALUES ?celex" in query:
            return results([("32006L0054", "2006-07-05", "x")])
        if '"2023-01-01"' in query:
            return web.Response(text="Virtuoso 37000 Error SP030: SPARQL compiler", content_type="text/plain")
        return results([("32024L0001", "2024-01-01", "x")])

    server = await serve(answer)
    items = await listed(union(client, keywords, server.base), ORDER, {"en/directive/women/2023": "32023L0100"})
    assert kinds(items) == [Reason.ENDPOINT_ERROR]
    marks = {name: mark for item in items if isinstance(item, ListingPage) for name, mark in item.bookmarks.items()}
    assert marks == {"en/directive/women/2024": "done"}


async def test_names_what_it_finds_with_groups_by_subject_list_and_title(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return results([("32000L0078", "2000-11-27", "Equal treatment, migrant workers")])

    server = await serve(answer)
    eu = union(client, keywords, server.base)
    (act,) = documents(await listed(eu, CrawlOrder(only=("32000L0078",), language="it")))
    assert set(act.groups) >= {TargetGroup.DISABLED, TargetGroup.MUSLIMS, TargetGroup.LGBT, TargetGroup.MIGRANTS}
    assert (act.id, act.type, act.institution) == ("32000L0078 (it)", "directive", "European Union")
    assert act.url == "https://eur-lex.europa.eu/legal-content/IT/TXT/?uri=CELEX:32000L0078"


async def test_reports_no_rows_for_known_acts_and_errors_with_200(
    serve: Serve, client: Client, keywords: Keywords
) -> None:
    async def answer(request: web.Request) -> web.Response:
        query = request.query["query"]
        if "VALUES ?celex" in query:
            return results([])
        if "2024-01-01" in query.partition("?date >= ")[2][:14]:
            return web.Response(text="Virtuoso 37000 Error SP030: SPARQL compiler, line 2", content_type="text/plain")
        return web.Response(text='{"head": {}}', content_type="application/json")

    server = await serve(answer)
    items = await listed(union(client, keywords, server.base), ORDER)
    assert kinds(items) == [Reason.EMPTY, Reason.ENDPOINT_ERROR, Reason.UNREADABLE]


async def test_tries_again_when_the_endpoint_ran_out_of_time(serve: Serve, client: Client) -> None:
    answers = [
        web.Response(text="Virtuoso S1T00 Error SR171: Transaction timed out"),
        results([("32006L0054", "2006-07-05", "x")]),
    ]

    async def answer(request: web.Request) -> web.Response:
        return answers.pop(0)

    server = await serve(answer)
    assert isinstance(await Cellar(client, server.base).rows("by_celex", celex="", language="ENG"), list)


async def test_refuses_to_ask_for_what_is_no_celex_number(serve: Serve, client: Client, keywords: Keywords) -> None:
    async def answer(request: web.Request) -> web.Response:
        return results([])

    server = await serve(answer)
    items = await listed(union(client, keywords, server.base), CrawlOrder(only=('" } DROP',)))
    assert kinds(items) == [Reason.MISSING]
    assert server.asked == []


async def test_tells_each_number_asked_for_that_is_not_found(serve: Serve, client: Client, keywords: Keywords) -> None:
    async def answer(request: web.Request) -> web.Response:
        return results([("32006L0054", "2006-07-05", "x")] if "32006L0054" in request.query["query"] else [])

    server = await serve(answer)
    eu = union(client, keywords, server.base)
    items = await listed(eu, CrawlOrder(only=("32006L0054", "39999L9999", "no number")))
    assert [document.symbol for document in documents(items)] == ["32006L0054"]
    assert [refusal.url for item in items if isinstance(item, ListingPage) for refusal in item.refused] == [
        "39999L9999",
        "no number",
    ]
    assert kinds(items) == [Reason.MISSING, Reason.MISSING]
    assert "no number" not in server.asked[0]
    assert kinds(await listed(eu, CrawlOrder(only=("39999L9999",)))) == [Reason.MISSING]


async def test_negotiates_a_recorded_text_behind_a_redirect(serve: Serve, client: Client, shared: Path) -> None:
    content = (shared / "eurlex/cellar_xhtml/32006L0054.en.xhtml").read_bytes()

    async def answer(request: web.Request) -> web.Response:
        if "/resource/celex/" in request.path:
            raise web.HTTPSeeOther("/resource/cellar/x.0006.03/DOC_1")
        return web.Response(body=content, content_type="application/xhtml+xml")

    server = await serve(answer)
    texts = await Cellar(client, resources=server.base).text("32006L0054", "en", {})
    assert isinstance(texts, list)
    assert [(text.content, text.format, text.part) for text in texts] == [(content, Format.HTML, 0)]
    assert server.headers[0]["Accept"] == "application/xhtml+xml"
    assert server.headers[0]["Accept-Language"] == "eng"


async def test_escapes_the_stroke_in_a_celex_number(serve: Serve, client: Client, shared: Path) -> None:
    content = (shared / "eurlex/cellar_xhtml/12012P_TXT.en.xhtml").read_bytes()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=content, content_type="application/xhtml+xml")

    server = await serve(answer)
    assert isinstance(await Cellar(client, resources=server.base).text("12012P/TXT", "en", {}), list)
    assert server.asked == ["/resource/celex/12012P%2FTXT"]


async def test_takes_the_next_form_where_one_is_missing(serve: Serve, client: Client, shared: Path) -> None:
    pdf = (shared / "un_docs/pdf/A_RES_78_264.pdf").read_bytes()
    accept_headers: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        accept_headers.append(request.headers["Accept"])
        return web.Response(body=pdf) if accept_headers[-1] == "application/pdf" else web.Response(status=404)

    server = await serve(answer)
    assert isinstance(await Cellar(client, resources=server.base).text("31996L0034", "en", {}), list)
    assert accept_headers == ["application/xhtml+xml", "text/html", "application/xml;type=fmx4", "application/pdf"]


def test_reads_the_recorded_list_of_choices(shared: Path) -> None:
    page = (shared / "eurlex/recorded_http/cellar_300_multiple_choice_32016R0679_fmx4.html").read_bytes()
    # The first item, `….doc.xml`, only describes the second.
    assert parts_of(page) == ["/resource/cellar/3e485e15-11bd-11e6-ba9a-01aa75ed71a1.0006.02/DOC_2"]


def test_a_composed_list_of_choices_keeps_its_order_and_its_host() -> None:
    def item(path: str, order: int) -> str:
        return (f'<li title="item"><a href="{path}">x</a><ul><li title="stream_name">L_{order}.xhtml</li>'
                f'<li title="stream_order">{order}</li></ul></li>')  # fmt: skip

    page = f"<html><ul>{item('http://e.org/resource/cellar/a/DOC_2', 2)}{item('/resource/cellar/a/DOC_1', 1)}"
    page += f"{item('http://e.org/admin', 3)}</ul></html>"
    assert parts_of(page.encode()) == ["/resource/cellar/a/DOC_1", "/resource/cellar/a/DOC_2"]


async def test_fetches_the_parts_that_the_recorded_300_lists(serve: Serve, client: Client, shared: Path) -> None:
    folder = shared / "eurlex/recorded_http"
    choices = (folder / "cellar_300_multiple_choice_32016R0679_fmx4.html").read_bytes()
    formex = (shared / "eurlex/formex/32022R2065.L_2022277EN.01000101.fmx.xml").read_bytes()

    async def answer(request: web.Request) -> web.Response:
        if request.path.endswith("DOC_2"):
            return web.Response(body=formex, content_type="application/xml")
        if request.headers["Accept"] != "application/xml;type=fmx4":
            return web.Response(status=404)
        return web.Response(body=choices, status=300, content_type="text/html")

    server = await serve(answer)
    texts = await Cellar(client, resources=server.base).text("32016R0679", "en", {})
    assert isinstance(texts, list)
    assert [(text.content, text.format) for text in texts] == [(formex, Format.XML)]
    assert server.asked[-1] == "/resource/cellar/3e485e15-11bd-11e6-ba9a-01aa75ed71a1.0006.02/DOC_2"


@pytest.mark.parametrize("body", [b"", b'<li title="item"><a href="http://[draft">x</a></li>'])
async def test_a_300_that_lists_nothing_readable_is_refused(serve: Serve, client: Client, body: bytes) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=body, status=300, content_type="text/html")

    server = await serve(answer)
    outcome = await Cellar(client, resources=server.base).text("32016R0679", "en", {})
    assert isinstance(outcome, Refusal)
    assert outcome.reason is Reason.UNREADABLE


async def test_a_part_that_is_missing_spoils_the_whole(serve: Serve, client: Client, shared: Path) -> None:
    choices = (shared / "eurlex/recorded_http/cellar_300_multiple_choice_32016R0679_fmx4.html").read_bytes()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=choices, status=300) if "celex" in request.path else web.Response(status=404)

    server = await serve(answer)
    outcome = await Cellar(client, resources=server.base).text("32016R0679", "en", {})
    assert isinstance(outcome, Refusal)
    assert outcome.reason is Reason.MISSING


async def test_a_challenge_in_place_of_a_text_is_never_a_document(serve: Serve, client: Client, shared: Path) -> None:
    page = (shared / "eurlex/recorded_http/eurlex_aws_waf_challenge_202.html").read_bytes()

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=page, status=202, content_type="text/html")

    server = await serve(answer)
    outcome = await Cellar(client, resources=server.base).text("32016R0679", "en", {})
    assert isinstance(outcome, Refusal)
    assert outcome.reason is Reason.CHALLENGE


@pytest.mark.parametrize(
    ("celex", "kind"),
    [("32006L0054", "directive"), ("32022R2065", "regulation"), ("32008F0913", "decision"), ("32010D0048", "decision"),
     ("32021H0319(01)", "recommendation"), ("52020IP0123", "resolution"), ("52020DC0565", "communication"),
     ("52018PC0340", "proposal"), ("62019CJ0030", "judgment"), ("62019CC0030", "opinion"), ("12012P/TXT", "treaty"),
     ("32006L0054R(01)", "other"), ("02006L0054-20260619", "other")],
)  # fmt: skip
def test_tells_types_by_celex_numbers(celex: str, kind: str) -> None:
    assert type_of(celex) == kind


def test_cites_the_public_address() -> None:
    assert citation("12012P/TXT", "en") == "https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=CELEX:12012P%2FTXT"
