"""Batches of records as only a faulty or hostile writer makes them, or a broker itself."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from aiokafka import AIOKafkaProducer
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.util import calc_crc32c

from core.settings import KafkaSettings

GZIP, SNAPPY, LZ4, ZSTD, UNKNOWN_CODEC = 1, 2, 3, 4, 7
"""What the lowest bits of a batch's attributes say about its compression."""

CONTROL = 0x20
"""The attribute of a batch that holds only the marker of a transaction."""

_LENGTH_AT, _CRC_AT, _ATTRIBUTES_AT = 8, 17, 21


def batch(values: Sequence[bytes], first: int = 0, compression: int = 0, timestamp_ms: int = 0) -> bytes:
    """Return a sound batch whose first record has the offset `first`."""
    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=compression, is_transactional=0, producer_id=-1, producer_epoch=-1, base_sequence=-1,
        batch_size=1_000_000,
    )  # fmt: skip
    for place, value in enumerate(values):
        builder.append(place, timestamp=timestamp_ms, key=None, value=value, headers=[])
    return struct.pack(">q", first) + bytes(builder.build())[8:]


def with_attributes(sound: bytes, attributes: int) -> bytes:
    """Return a batch that claims these attributes, with the content of a sound one and the right checksum."""
    spoiled = bytearray(sound)
    struct.pack_into(">h", spoiled, _ATTRIBUTES_AT, attributes)
    return _checked(spoiled)


def cut_short(sound: bytes, count: int) -> bytes:
    """Return a batch without its last `count` bytes, with the right length and checksum."""
    spoiled = bytearray(sound[:-count])
    struct.pack_into(">i", spoiled, _LENGTH_AT, len(spoiled) - _LENGTH_AT - 4)
    return _checked(spoiled)


def _checked(spoiled: bytearray) -> bytes:
    struct.pack_into(">I", spoiled, _CRC_AT, calc_crc32c(bytes(spoiled[_ATTRIBUTES_AT:])))
    return bytes(spoiled)


async def write(kafka: KafkaSettings, topic: str, raw: bytes, partition: int = 0) -> None:
    """Write one batch as it is."""
    async with AIOKafkaProducer(bootstrap_servers=kafka.bootstrap, acks="all") as client:
        builder = client.create_batch()
        builder.append(key=None, value=b"replaced", timestamp=None)
        builder.close()
        builder._buffer = bytearray(raw)
        await (await client.send_batch(builder, topic, partition=partition))
