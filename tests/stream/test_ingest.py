"""JSONL to Kafka: every good line arrives, every bad one is named, memory stays flat."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from core.errors import BrokerUnavailable
from core.settings import KafkaSettings, Settings
from stream.ingest import MAX_COMPLAINTS, ingest
from stream.topic_reader import read_topic
from stream.topics import Topics
from tests.ports import unused_port

pytestmark = pytest.mark.live


def line(number: int, text: str = "Zorblaxians ruin everything.") -> bytes:
    return json.dumps({"platform": "birdsong", "post_id": str(number), "text": text}).encode() + b"\n"


def test_bad_lines_are_named_and_the_rest_arrives(settings: Settings) -> None:
    lines = [
        line(1),
        b"\n",
        b"{broken\n",
        line(4),
        line(5, ""),
        b"\xff\xfe\n",
        b'{"text":"' + b"x" * 10_000_000 + b'"}',
    ]
    read: list[int] = []
    report = ingest(lines, settings.kafka, read.append)
    assert (report.sent, report.bad) == (2, 4)
    assert [number for number, _ in report.complaints] == [3, 5, 6, 7]
    assert "not JSON" in report.complaints[0][1] and "empty" in report.complaints[1][1]
    assert "10,000,0" in report.complaints[3][1]
    assert sum(read) == sum(len(item) for item in lines)


async def test_what_is_sent_is_on_the_topic_keyed_by_case(settings: Settings) -> None:
    ingest([line(number) for number in range(100)], settings.kafka, lambda _: None)
    keys = [record.key async for record in read_topic(settings.kafka, Topics(settings.kafka.prefix).flags)]
    assert sorted(keys) == sorted(f"birdsong/{number}".encode() for number in range(100))


async def test_a_large_file_with_a_bad_line_in_the_middle(settings: Settings) -> None:
    many = 20_000

    def lines() -> Iterator[bytes]:
        for number in range(many):
            yield b"{broken\n" if number == many // 2 else line(number)

    report = ingest(lines(), settings.kafka, lambda _: None)
    assert report.complaints == [(many // 2 + 1, report.complaints[0][1])]
    assert len([None async for _ in read_topic(settings.kafka, Topics(settings.kafka.prefix).flags)]) == many - 1


def test_complaints_do_not_grow_without_end(settings: Settings) -> None:
    report = ingest((b"{\n" for _ in range(5_000)), settings.kafka, lambda _: None)
    assert report.bad == 5_000 and len(report.complaints) == MAX_COMPLAINTS


def test_without_a_broker_it_says_what_to_do() -> None:
    with pytest.raises(BrokerUnavailable, match="REJOINDER_KAFKA__BOOTSTRAP"):
        ingest([line(1)], KafkaSettings(bootstrap=f"127.0.0.1:{unused_port()}", timeout_s=1), lambda _: None)
