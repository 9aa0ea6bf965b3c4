"""Batches of records that can't be read are left out, logged and counted; those in Kafka's codecs are read."""

from __future__ import annotations

import logging
from uuid import uuid4

import pytest
from aiokafka import TopicPartition, codec
from aiokafka.record.memory_records import MemoryRecords
from prometheus_client import REGISTRY

from stream import bounded_codecs, readable_batches
from stream.readable_batches import ReadablePartition
from tests.stream.raw_batches import (
    GZIP,
    LZ4,
    SNAPPY,
    UNKNOWN_CODEC,
    ZSTD,
    batch,
    cut_short,
    with_attributes,
)


def fetched(*batches: bytes, topic: str = "flags", at: int = 0) -> ReadablePartition:
    """Return what a consumer at offset `at` makes of these batches in one answer of a broker."""
    readable_batches.install()
    place = TopicPartition(topic, 3)
    return ReadablePartition(place, MemoryRecords(b"".join(batches)), None, at, None, None, True, 0)


@pytest.mark.parametrize("compression", [GZIP, SNAPPY, LZ4, ZSTD, UNKNOWN_CODEC])
def test_a_batch_that_cannot_be_unpacked_is_left_out_logged_and_counted(
    compression: int, caplog: pytest.LogCaptureFixture
) -> None:
    topic = f"flags-{uuid4().hex}"
    broken = with_attributes(batch([b"lost"] * 3, first=1), compression)
    partition = fetched(batch([b"before"]), broken, batch([b"after"], first=4), topic=topic)
    assert [(record.offset, record.value) for record in partition] == [(0, b"before"), (4, b"after")]
    assert partition.next_fetch_offset == 5
    [line] = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert f"left out offsets 1 to 3 of {topic}, partition 3" in line and "sent again" in line
    assert REGISTRY.get_sample_value("rejoinder_unreadable_batches_total", {"topic": topic}) == 1


def test_the_records_before_an_unreadable_one_are_kept(caplog: pytest.LogCaptureFixture) -> None:
    partition = fetched(cut_short(batch([b"a", b"b", b"c"]), 2), batch([b"after"], first=3))
    assert [record.value for record in partition] == [b"a", b"b", b"after"]
    assert "left out offsets 2 to 2 of flags" in caplog.text


def test_a_broken_batch_at_the_end_is_passed() -> None:
    partition = fetched(with_attributes(batch([b"lost"], first=7), UNKNOWN_CODEC), at=7)
    assert list(partition) == []
    assert partition.next_fetch_offset == 8


WITH_CRAMJAM = pytest.mark.skipif(not codec.has_zstd(), reason="cramjam is not installed")
OTHERS = [pytest.param(compression, marks=WITH_CRAMJAM) for compression in (LZ4, ZSTD, SNAPPY)]


@pytest.mark.parametrize("compression", [GZIP, *OTHERS])
def test_a_compressed_batch_is_read(compression: int) -> None:
    values = [b"vile words " * 50, b"more"]
    assert [record.value for record in fetched(batch(values, compression=compression))] == values


@pytest.mark.parametrize("compression", [GZIP, *OTHERS[:2]])
def test_a_batch_that_would_fill_the_memory_is_left_out(
    compression: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(bounded_codecs, "MAX_UNPACKED", 100_000)
    bomb = batch([bytes(90_000), bytes(90_000)], compression=compression)
    assert len(bomb) < 2_000
    kept = batch([bytes(90_000)], first=2, compression=compression)
    assert [record.offset for record in fetched(bomb, kept)] == [2]
    assert "left out offsets 0 to 1" in caplog.text
