"""Keep one batch of records that can't be read from blocking every consumer of its partition.

aiokafka unpacks a batch and decodes its header names before anybody sees a record. If that fails, Faust's worker and
every other consumer would fail at the same offset for ever. With these classes, the rest of that batch is left out,
logged and counted. A batch comes from one producer, so no other producer's records are lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

from aiokafka import TopicPartition
from aiokafka.consumer import fetcher

from stream import bounded_codecs, metrics

log = logging.getLogger(__name__)

LeftOut = Callable[[int, Exception], None]
"""A function that reports what was left out: up to which offset, and why."""


class ReadableBatch:
    """A batch of records that ends at the first unreadable one; all else is delegated to the batch."""

    def __init__(self, batch: Any, left_out: LeftOut) -> None:
        self._batch = batch
        self._left_out = left_out

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self._batch
        # Each codec has errors of its own, and whoever wrote the batch chose every byte that is decoded.
        except Exception as error:
            self._left_out(self._batch.next_offset, error)

    def __next__(self) -> Any:
        return next(self._batch)


class ReadableBatches:
    """The batches that a broker sent, with the interface that aiokafka's fetcher expects."""

    def __init__(self, records: Any, left_out: LeftOut) -> None:
        self._records = records
        self._left_out = left_out

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)

    def next_batch(self) -> ReadableBatch:
        """Return the next batch."""
        return ReadableBatch(self._records.next_batch(), self._left_out)


class ReadablePartition(fetcher.PartitionRecords):  # type: ignore[misc]  # aiokafka has no types
    """What was fetched from one partition, without what can't be read."""

    def __init__(self, place: TopicPartition, records: Any, *more: Any) -> None:
        super().__init__(place, ReadableBatches(records, self._report), *more)
        self._place = place

    def _report(self, end: int, error: Exception) -> None:
        metrics.UNREADABLE.labels(self._place.topic).inc()
        log.error(
            "left out offsets %d to %d of %s, partition %d, which can't be read (%s: %s); find out who wrote them, and "
            "have what was lost sent again",
            self.next_fetch_offset, end - 1, self._place.topic, self._place.partition, type(error).__name__, error,
        )  # fmt: skip


def install() -> None:
    """Make every consumer of this process read batches this way."""
    fetcher.PartitionRecords = ReadablePartition
    bounded_codecs.install()
