"""The HTTP door, in front of a real broker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Any
from unittest.mock import create_autospec

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from aiokafka import AIOKafkaProducer
from aiokafka.errors import MessageSizeTooLargeError

from core.domain import FlaggedPost
from core.settings import GatewaySettings, KafkaSettings, Settings, Token
from core.throttle import Throttle
from core.tokens import TokenTable
from ledger import Ledger
from stream import gateway
from stream.gateway import Gateway, parse
from stream.messages import decode
from stream.producer import Producer
from stream.topic_reader import read_topic
from stream.topics import Topics
from tests.ports import unused_port

pytestmark = pytest.mark.live

TOKENS = {
    "platform": Token.model_validate({"token": "correct-horse", "role": "platform"}),
    "birdsong": Token.model_validate({"token": "battery-staple", "role": "platform", "platforms": ["birdsong"]}),
    "prometheus": Token.model_validate({"token": "gauge-and-dial", "role": "monitor"}),
}
AUTH = {"Authorization": "Bearer correct-horse"}
Client = TestClient[web.Request, web.Application]


def post(number: int = 1, **changes: object) -> dict[str, object]:
    return {"platform": "birdsong", "post_id": str(number), "text": "Zorblaxians ruin everything.", **changes}


async def client_for(producer: Producer, ledger: Ledger, kafka: KafkaSettings, max_body_bytes: int = 100_000) -> Client:
    app = web.Application()
    limits = GatewaySettings(max_body_bytes=max_body_bytes, max_batch=50)
    door = Gateway(producer, ledger, TokenTable(TOKENS, Throttle(max_tries=3)), limits, kafka)
    door.add_to(app)
    door.add_health_to(app)
    client = TestClient(TestServer(app))
    await client.start_server()
    return client


@pytest.fixture
async def client(producer: Producer, ledger: Ledger, settings: Settings) -> AsyncIterator[Client]:
    opened = await client_for(producer, ledger, settings.kafka)
    yield opened
    await opened.close()


async def flags_on(settings: Settings) -> list[FlaggedPost]:
    topic = Topics(settings.kafka.prefix).flags
    return [decode(record.value, FlaggedPost) async for record in read_topic(settings.kafka, topic)]


async def send(client: Client, body: Any, headers: dict[str, str] = AUTH) -> tuple[int, dict[str, Any]]:
    data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    answer = await client.post("/v1/flags", data=BytesIO(data), headers=headers)
    return answer.status, await answer.json()


async def test_one_flag_is_on_the_topic_when_202_comes_back(client: Client, settings: Settings) -> None:
    assert await send(client, post()) == (202, {"accepted": 1, "rejected": []})
    assert [flag.key for flag in await flags_on(settings)] == ["birdsong/1"]


async def test_of_an_array_the_good_ones_are_taken_and_the_bad_ones_named(client: Client, settings: Settings) -> None:
    status, answer = await send(client, [post(1), post(2, text=""), "nonsense", post(4)])
    assert status == 202 and answer["accepted"] == 2
    assert [item["index"] for item in answer["rejected"]] == [1, 2]
    assert "empty" in answer["rejected"][0]["error"]
    assert {flag.post_id for flag in await flags_on(settings)} == {"1", "4"}


async def test_ndjson_with_a_broken_line_in_the_middle(client: Client, settings: Settings) -> None:
    body = f"{json.dumps(post(1))}\n{{broken\n\n{json.dumps(post(3))}\n".encode()
    status, answer = await send(client, body)
    assert (status, answer["accepted"]) == (202, 2)
    assert answer["rejected"][0]["index"] == 1 and "not JSON" in answer["rejected"][0]["error"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\n\n"])
def test_only_a_line_feed_ends_a_line_of_ndjson(line_end: str) -> None:
    """JSON may hold these characters as they are; Python's `splitlines` breaks at them."""
    texts = [f"One{separator}two." for separator in ("\u2028", "\u2029", "\x85")]
    lines = [json.dumps({"text": text}, ensure_ascii=False) for text in texts]
    assert parse(line_end.join(lines).encode(), 3) == [{"text": text} for text in texts]


@pytest.mark.parametrize(
    ("body", "status", "complaint"),
    [
        (b"", 400, "empty"),
        (b"{", 400, "not JSON"),
        (b"\xff", 400, "UTF-8"),
        (b"[" * 50_000, 400, "not JSON"),
        (b'{"text":"' + b"x" * 200_000 + b'"}', 413, "100,000"),
        (json.dumps([post(n) for n in range(51)]).encode(), 413, "50"),
        (b"{}\n" * 51, 413, "50"),
    ],
)
async def test_what_cannot_be_read_is_a_plain_error(client: Client, body: bytes, status: int, complaint: str) -> None:
    actual, answer = await send(client, body)
    assert actual == status and complaint in answer["message"]


async def test_too_many_lines_are_refused_before_any_is_parsed(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    parse_line = create_autospec(gateway._line)
    monkeypatch.setattr(gateway, "_line", parse_line)
    status, _ = await send(client, b"x\n" * 51)
    assert status == 413 and not parse_line.called


async def test_a_moment_without_utc_spoils_one_item_and_not_the_batch(client: Client, settings: Settings) -> None:
    status, answer = await send(client, [post(1), post(2, flagged_at="0001-01-01T00:00:00+14:00"), post(3)])
    assert (status, answer["accepted"]) == (202, 2)
    assert answer["rejected"] == [{"index": 1, "error": "flagged_at: lies outside the years 1 to 9999 in UTC"}]
    assert {flag.post_id for flag in await flags_on(settings)} == {"1", "3"}


@pytest.mark.parametrize("size", [300_100, 540_000, 1_010_000, 1_200_000])
async def test_a_flag_over_the_limit_is_refused_at_the_door_and_told_the_limit(
    producer: Producer, ledger: Ledger, settings: Settings, size: int
) -> None:
    client = await client_for(producer, ledger, settings.kafka, max_body_bytes=8_000_000)
    parts = 49
    large = post(2, context=["\N{CLOWN FACE}" * (size // parts // 4)] * parts)
    for body, expected in ((large, (400, 0)), ([post(1), large, post(3)], (202, 2))):
        status, answer = await send(client, body)
        assert (status, answer["accepted"]) == expected
        [refused] = answer["rejected"]
        assert "300,000 bytes" in refused["error"]
    assert {flag.post_id for flag in await flags_on(settings)} == {"1", "3"}
    await client.close()


async def test_what_only_this_broker_finds_too_large_is_refused_and_the_others_are_taken(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_one = AIOKafkaProducer.send

    async def small_broker(self: AIOKafkaProducer, topic: str, value: bytes, **more: Any) -> Any:
        if len(value) < 10_000:
            return await send_one(self, topic, value=value, **more)
        answered = asyncio.get_running_loop().create_future()
        answered.set_exception(MessageSizeTooLargeError())
        return answered

    monkeypatch.setattr(AIOKafkaProducer, "send", small_broker)
    status, answer = await send(client, [post(1), post(2, text="x" * 15_000), {"nonsense": 1}, post(4)])
    assert (status, answer["accepted"]) == (202, 2)
    assert [item["index"] for item in answer["rejected"]] == [1, 2]
    assert "Too many bytes" in answer["rejected"][0]["error"]
    assert {flag.post_id for flag in await flags_on(settings)} == {"1", "4"}


async def test_a_single_bad_flag_is_400_and_says_why(client: Client, settings: Settings) -> None:
    status, answer = await send(client, {"platform": "birdsong"})
    assert status == 400 and "is missing" in answer["rejected"][0]["error"]
    assert await flags_on(settings) == []


async def test_a_body_without_a_length_is_still_limited(client: Client) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(1000):
            yield b"x" * 10_000

    answer = await client.post("/v1/flags", data=endless(), headers=AUTH)
    assert answer.status == 413


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic correct-horse"}])
async def test_without_the_right_token_nothing_is_taken(
    client: Client, settings: Settings, headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    status, _ = await send(client, post(), headers)
    assert status == 401
    assert await flags_on(settings) == []
    assert "wrong" not in caplog.text and "correct-horse" not in caplog.text


async def test_without_a_broker_nothing_counts_as_accepted(ledger: Ledger) -> None:
    kafka = KafkaSettings(bootstrap=f"127.0.0.1:{unused_port()}", timeout_s=0.5)
    async with Producer(kafka) as producer:
        client = await client_for(producer, ledger, kafka)
        answer = await client.post("/v1/flags", json=post(), headers=AUTH)
        assert answer.status == 503 and answer.headers["Retry-After"]
        ready = await client.get("/readyz")
        assert ready.status == 503 and "broker" in (await ready.json())["away"]
        await client.close()


async def test_health_and_readiness_need_no_token(client: Client) -> None:
    assert (await client.get("/healthz")).status == 200
    assert (await client.get("/readyz")).status == 200


async def test_metrics_are_for_those_who_watch_alone(client: Client) -> None:
    assert (await client.get("/metrics")).status == 401
    assert (await client.get("/metrics", headers=AUTH)).status == 403
    watcher = {"Authorization": "Bearer gauge-and-dial"}
    text = await (await client.get("/metrics", headers=watcher)).text()
    assert "rejoinder_flags_accepted_total" in text
    assert (await send(client, post(), watcher))[0] == 403


async def test_a_platform_flags_its_own_posts_alone(client: Client, settings: Settings) -> None:
    birdsong = {"Authorization": "Bearer battery-staple"}
    status, answer = await send(client, [post(1), post(2, platform="rival")], birdsong)
    assert (status, answer["accepted"]) == (202, 1)
    assert answer["rejected"] == [{"index": 1, "error": "this token may flag posts of birdsong alone"}]
    assert (await send(client, post(3, platform="rival"), birdsong))[0] == 400
    assert [flag.key for flag in await flags_on(settings)] == ["birdsong/1"]


async def test_guessing_is_slowed_down_at_the_platforms_door_too(client: Client) -> None:
    wrong = [await send(client, post(), {"Authorization": f"Bearer guess-{number}"}) for number in range(4)]
    assert [status for status, _ in wrong] == [401, 401, 401, 429]
    assert wrong[-1][1]["error"] == "too_many_requests"
