"""Keep one record with a malformed header name from blocking every consumer of its partition.

aiokafka decodes header names as UTF-8 and fails before anybody sees the record; Faust's worker and every other consumer
would then fail at the same offset for ever. With these classes, that record and the rest of its batch are skipped. A
batch comes from one producer, so no other producer's records are lost.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from aiokafka.consumer import fetcher
from aiokafka.record.memory_records import MemoryRecords

log = logging.getLogger(__name__)


class ReadableBatch:
    """A batch of records that ends at the first unreadable one; all else is delegated to the batch."""

    def __init__(self, batch: Any) -> None:
        self._batch = batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self._batch
        except UnicodeDecodeError:
            log.error(
                "left out the records before offset %d that follow a header whose name is not UTF-8; look who writes "
                "to the topic",
                self._batch.next_offset,
            )

    def __next__(self) -> Any:
        return next(self._batch)


class ReadableBatches:
    """The batches that a broker sent, with the interface that aiokafka's fetcher expects."""

    def __init__(self, data: bytes) -> None:
        self._records = MemoryRecords(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)

    def next_batch(self) -> ReadableBatch:
        """Return the next batch."""
        return ReadableBatch(self._records.next_batch())


def install() -> None:
    """Make every consumer of this process read batches this way."""
    fetcher.MemoryRecords = ReadableBatches
