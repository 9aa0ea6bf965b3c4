"""Limit what one batch of records unpacks to, so that no writer can fill a reader's memory with a small batch.

A megabyte of zstd can hold 30 GB, of gzip one. Whoever unpacks that is killed, again at each start. Snappy needs no
limit: it packs at most 21 to 1.
"""

from __future__ import annotations

import gzip
import io
import mmap
import sys
from collections.abc import Callable
from typing import Any

from aiokafka import codec
from aiokafka.record.default_records import DefaultRecordBatch
from aiokafka.record.legacy_records import LegacyRecordBatch

MAX_UNPACKED = 64_000_000
"""Most bytes of a batch, unpacked: sixty of the largest messages."""


def install() -> None:
    """Make every consumer of this process unpack batches this way."""
    decoders: dict[str, Callable[[bytes], bytes]] = {"gzip_decode": gzip_decode}
    if codec.cramjam is not None:
        decoders |= {"lz4_decode": _bounded(codec.cramjam.lz4), "zstd_decode": _bounded(codec.cramjam.zstd)}
    for batch in (DefaultRecordBatch, LegacyRecordBatch):
        # Where aiokafka's compiled classes look, or those in Python if it was installed without them.
        module = sys.modules[batch.__module__]
        for name, decode in decoders.items():
            setattr(module, name, decode)


def gzip_decode(packed: bytes) -> bytes:
    """Unpack gzip. Raises ValueError, or an error of gzip's."""
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
        unpacked = file.read(MAX_UNPACKED + 1)
    if len(unpacked) > MAX_UNPACKED:
        raise ValueError(f"it unpacks to more than {MAX_UNPACKED:,} bytes")
    return unpacked


def _bounded(library: Any) -> Callable[[bytes], bytes]:
    """Return the decoder of a codec of cramjam's, which raises DecompressionError if the limit is exceeded."""

    def decode(packed: bytes) -> bytes:
        # Its pages take no memory before something is written to them.
        with mmap.mmap(-1, MAX_UNPACKED) as unpacked:
            return unpacked[: library.decompress_into(packed, unpacked)]

    return decode
