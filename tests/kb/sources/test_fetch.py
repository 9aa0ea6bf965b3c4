from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from aiohttp import web

from core.retry import Backoff
from kb.sources import Client, Politeness, Reason, Refusal
from kb.sources.fetch import Answer, _retry_after
from kb.sources.validation import Format
from tests.core.turned_clock import TurnedClock

Serve = Callable[..., Awaitable[Any]]
ServeRaw = Callable[[bytes], Awaitable[str]]

PDF = b"%PDF-1.7\nsmall\n%%EOF\n"
PDFS = {Format.PDF}


async def give_pdf(request: web.Request) -> web.Response:
    return web.Response(body=PDF, content_type="application/pdf")


def saying(text: str, status: int = 200) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=text, status=status)

    return answer


def failing(times: int, status: int = 503, **headers: str) -> Callable[[web.Request], Awaitable[web.Response]]:
    """Fail some times, then give the document."""
    left = iter(range(times))

    async def answer(request: web.Request) -> web.Response:
        if next(left, None) is None:
            return await give_pdf(request)
        return web.Response(status=status, headers={name.replace("_", "-"): value for name, value in headers.items()})

    return answer


def reason_of(outcome: Answer | Refusal) -> Reason:
    assert isinstance(outcome, Refusal)
    return outcome.reason


async def test_fetches_a_document_and_says_who_asks(serve: Serve, quick: Politeness) -> None:
    server = await serve(give_pdf)
    async with Client(["127.0.0.1"], quick, contact="https://example.org/us") as client:
        answer = await client.get(f"{server.base}/a.pdf", PDFS, params={"s": "A/RES/80/193"})
    assert isinstance(answer, Answer)
    assert (answer.content, answer.format) == (PDF, Format.PDF)
    assert server.asked == ["/a.pdf?s=A/RES/80/193"]
    assert server.headers[0]["User-Agent"].startswith("Rejoinder/")
    assert server.headers[0]["User-Agent"].endswith("(https://example.org/us)")


async def test_tries_again_while_a_server_is_busy(serve: Serve, client: Client) -> None:
    server = await serve(failing(2))
    assert isinstance(await client.get(f"{server.base}/a.pdf", PDFS), Answer)
    assert len(server.asked) == 3


async def test_waits_as_long_as_retry_after_says(serve: Serve, client: Client, clock: TurnedClock) -> None:
    server = await serve(failing(1, Retry_After="1"))
    assert isinstance(await client.get(f"{server.base}/a.pdf", PDFS), Answer)
    assert clock.monotonic() == pytest.approx(1.0)


async def test_waits_at_least_its_own_backoff_where_retry_after_is_shorter(serve: Serve, clock: TurnedClock) -> None:
    server = await serve(failing(1, Retry_After="0"))
    async with Client(["127.0.0.1"], Politeness(interval_s=0.0, backoff=Backoff(0.2, 240.0)), clock=clock) as client:
        await client.get(f"{server.base}/a.pdf", PDFS)
    assert clock.monotonic() == pytest.approx(0.2)


async def test_does_not_wait_out_a_retry_after_of_hours(serve: Serve, client: Client) -> None:
    server = await serve(failing(9, Retry_After="7200"))
    assert reason_of(await client.get(f"{server.base}/a.pdf", PDFS)) is Reason.BUSY
    assert len(server.asked) == 1


async def test_asks_nothing_more_of_a_host_that_wants_to_be_left_alone_for_hours(serve: Serve, client: Client) -> None:
    server = await serve(failing(9, Retry_After="7200"))
    outcomes = await asyncio.gather(*(client.get(f"{server.base}/{number}.pdf", PDFS) for number in range(3)))
    outcomes.append(await client.get(f"{server.base}/later.pdf", PDFS))
    assert [reason_of(outcome) for outcome in outcomes] == [Reason.BUSY] + [Reason.CLOSED] * 3
    assert "asks to be left alone for 7,200 s" in str(outcomes[-1])
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [503, 403])
async def test_asks_for_no_other_address_before_retry_after(serve: Serve, status: int, clock: TurnedClock) -> None:
    server = await serve(failing(1, status, Retry_After="1"))
    async with Client(
        ["127.0.0.1"], Politeness(interval_s=0.0, attempts=1, backoff=Backoff(0.0, 240.0)), clock=clock
    ) as client:
        assert isinstance(await client.get(f"{server.base}/a.pdf", PDFS), Refusal)
        assert isinstance(await client.get(f"{server.base}/b.pdf", PDFS), Answer)
    assert clock.monotonic() == pytest.approx(1.0)


async def test_lets_a_host_rest_after_the_last_try_too(serve: Serve, clock: TurnedClock) -> None:
    server = await serve(failing(1))
    async with Client(
        ["127.0.0.1"], Politeness(interval_s=0.0, attempts=1, backoff=Backoff(0.3, 240.0)), clock=clock
    ) as client:
        assert isinstance(await client.get(f"{server.base}/a.pdf", PDFS), Refusal)
        assert isinstance(await client.get(f"{server.base}/b.pdf", PDFS), Answer)
    assert clock.monotonic() == pytest.approx(0.3)


async def test_waits_as_long_as_retry_after_says_for_robots_txt(
    serve: Serve, client: Client, clock: TurnedClock
) -> None:
    server = await serve(give_pdf, robots=failing(1, Retry_After="1"))
    assert isinstance(await client.get(f"{server.base}/a.pdf", PDFS), Answer)
    assert clock.monotonic() == pytest.approx(1.0)


async def test_asks_once_for_a_robots_txt_that_wants_hours(serve: Serve, client: Client) -> None:
    times: list[str] = []

    async def busy(request: web.Request) -> web.Response:
        times.append(request.path)
        return web.Response(status=503, headers={"Retry-After": "7200"})

    server = await serve(give_pdf, robots=busy)
    outcomes = [await client.get(f"{server.base}/{number}.pdf", PDFS) for number in range(2)]
    assert [reason_of(outcome) for outcome in outcomes] == [Reason.CLOSED] * 2
    assert (server.asked, len(times)) == ([], 1)


async def test_gives_up_a_loop_of_503_and_then_leaves_the_host_alone(serve: Serve, client: Client) -> None:
    server = await serve(failing(10**6))
    kinds = [reason_of(await client.get(f"{server.base}/{number}.pdf", PDFS)) for number in range(5)]
    assert kinds == [Reason.BUSY] * 3 + [Reason.CLOSED] * 2
    assert len(server.asked) == 9


async def test_a_good_answer_ends_the_row_of_refusals(serve: Serve, client: Client) -> None:
    server = await serve(failing(6))
    outcomes = [await client.get(f"{server.base}/{number}.pdf", PDFS) for number in range(5)]
    assert [isinstance(outcome, Answer) for outcome in outcomes] == [False, False, True, True, True]


async def test_asks_once_for_what_is_missing(serve: Serve, client: Client) -> None:
    server = await serve(failing(9, status=404))
    assert reason_of(await client.get(f"{server.base}/a.pdf", PDFS)) is Reason.MISSING
    assert len(server.asked) == 1


async def test_obeys_robots_txt_for_its_name_and_for_all(serve: Serve, client: Client) -> None:
    robots = saying("User-agent: *\nDisallow: /search\n\nUser-agent: Other\nDisallow: /\n")
    server = await serve(give_pdf, robots=robots)
    assert reason_of(await client.get(f"{server.base}/search?p=x", PDFS)) is Reason.DISALLOWED
    assert isinstance(await client.get(f"{server.base}/record/1", PDFS), Answer)
    assert server.asked == ["/record/1"]


async def test_keeps_the_crawl_delay_of_robots_txt(serve: Serve, client: Client, clock: TurnedClock) -> None:
    server = await serve(give_pdf, robots=saying("User-agent: *\nCrawl-delay: 0.3\n"))
    for number in range(3):
        assert isinstance(await client.get(f"{server.base}/{number}", PDFS), Answer)
    assert clock.monotonic() == pytest.approx(0.6)


async def test_fetches_nothing_while_robots_txt_answers_503(serve: Serve, client: Client) -> None:
    server = await serve(give_pdf, robots=saying("no", 503))
    assert reason_of(await client.get(f"{server.base}/a.pdf", PDFS)) is Reason.BUSY
    assert server.asked == []


async def test_fetches_nothing_where_robots_txt_is_a_challenge(serve: Serve, client: Client, shared: Any) -> None:
    page = (shared / "eurlex/recorded_http/eurlex_aws_waf_challenge_202.html").read_text()
    server = await serve(give_pdf, robots=saying(page, 202))
    assert reason_of(await client.get(f"{server.base}/a.pdf", PDFS)) is Reason.CHALLENGE
    assert server.asked == []


async def test_takes_a_web_page_in_place_of_robots_txt_for_no_rules(serve: Serve, client: Client) -> None:
    server = await serve(give_pdf, robots=saying("<!doctype html><html><body>app</body></html>"))
    assert isinstance(await client.get(f"{server.base}/a.pdf", PDFS), Answer)


async def test_asks_a_host_one_thing_at_a_time_and_not_faster_than_its_rate(serve: Serve, clock: TurnedClock) -> None:
    under_way, most = 0, 0

    async def slow(request: web.Request) -> web.Response:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return await give_pdf(request)

    server = await serve(slow)
    async with Client(["127.0.0.1"], Politeness(interval_s=0.05), clock=clock) as client:
        await asyncio.gather(*(client.get(f"{server.base}/{number}", PDFS) for number in range(5)))
    assert most == 1
    assert clock.monotonic() == pytest.approx(0.25)


async def test_follows_redirects_and_obeys_robots_txt_behind_them(serve: Serve, client: Client) -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/good":
            raise web.HTTPSeeOther("/final.pdf")
        if request.path == "/bad":
            raise web.HTTPFound("/private/x.pdf")
        if request.path == "/loop":
            raise web.HTTPFound("/loop")
        return await give_pdf(request)

    server = await serve(answer, robots=saying("User-agent: *\nDisallow: /private\n"))
    good = await client.get(f"{server.base}/good", PDFS)
    assert isinstance(good, Answer)
    assert good.url.endswith("/final.pdf")
    assert reason_of(await client.get(f"{server.base}/bad", PDFS)) is Reason.DISALLOWED
    assert reason_of(await client.get(f"{server.base}/loop", PDFS)) is Reason.UNREADABLE


@pytest.mark.parametrize("place", ["http://localhost:9/x", "https://example.org/x", "file:///etc/hostname", "http://["])
async def test_never_leaves_its_domains_wherever_a_redirect_points(serve: Serve, client: Client, place: str) -> None:
    async def away(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": place})

    server = await serve(away)
    assert reason_of(await client.get(f"{server.base}/a.pdf", PDFS)) is Reason.FOREIGN


@pytest.mark.parametrize("place", ["http://[bad", "http://127.0.0.1:port/x", "no address", ""])
async def test_says_that_something_in_a_catalogue_is_no_address(client: Client, place: str) -> None:
    assert reason_of(await client.get(place, PDFS)) is Reason.FOREIGN


async def test_does_not_take_a_lookalike_for_its_domain(client: Client) -> None:
    async with Client(["un.org"]) as un:
        assert reason_of(await un.get("https://evil-un.org/a.pdf", PDFS)) is Reason.FOREIGN
        assert reason_of(await un.get("https://un.org.example/a.pdf", PDFS)) is Reason.FOREIGN


async def test_refuses_a_body_over_the_limit_announced_or_not(serve: Serve) -> None:
    async def streamed(request: web.Request) -> web.StreamResponse:
        if request.path == "/announced":
            return web.Response(body=PDF * 100)
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(100):
            await response.write(PDF)
        return response

    server = await serve(streamed)
    async with Client(["127.0.0.1"], Politeness(interval_s=0, max_bytes=1000)) as client:
        assert reason_of(await client.get(f"{server.base}/announced", PDFS)) is Reason.TOO_LARGE
        assert reason_of(await client.get(f"{server.base}/streamed", PDFS)) is Reason.TOO_LARGE


async def test_recognises_a_body_shorter_than_its_content_length(serve_raw: ServeRaw, client: Client) -> None:
    base = await serve_raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nConnection: close\r\n\r\n" + PDF)
    assert reason_of(await client.get(f"{base}/a.pdf", PDFS)) is Reason.TRUNCATED


async def test_recognises_a_pdf_without_its_end_where_no_length_was_said(serve_raw: ServeRaw, client: Client) -> None:
    base = await serve_raw(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + PDF[:-7])
    assert reason_of(await client.get(f"{base}/a.pdf", PDFS)) is Reason.TRUNCATED


async def test_says_that_a_server_talks_nonsense_or_is_away(serve_raw: ServeRaw, client: Client) -> None:
    base = await serve_raw(b"SMTP ready\r\n\r\n")
    assert reason_of(await client.get(f"{base}/a.pdf", PDFS)) is Reason.UNREACHABLE
    assert reason_of(await client.get("http://127.0.0.1:9/a.pdf", PDFS)) is Reason.UNREACHABLE


async def test_gives_up_a_server_that_hangs_up_without_an_answer(serve_raw: ServeRaw, client: Client) -> None:
    base = await serve_raw(b"")
    assert reason_of(await client.get(f"{base}/a.pdf", PDFS)) is Reason.UNREACHABLE


async def test_gives_up_a_server_that_never_answers(serve: Serve) -> None:
    async def hang(request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets that event")

    base = (await serve(hang)).base
    async with Client(["127.0.0.1"], Politeness(interval_s=0, attempts=1, timeout_s=0.2)) as client:
        assert reason_of(await client.get(f"{base}/a.pdf", PDFS)) is Reason.TIMEOUT


def test_reads_retry_after_as_seconds_and_as_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert _retry_after("17") == 17
    assert 80 < _retry_after(later) <= 90
    assert [_retry_after(value) for value in ("", "soon", "-5", "Wed, 21 Oct 2015 07:28:00 GMT")] == [0, 0, 0, 0]
