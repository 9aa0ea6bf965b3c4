"""Send one reply in its own Kafka transaction, so that the broker refuses a publisher that was paused during its send.

The transactional id belongs to the reply. When a publisher opens it again, the broker aborts what an earlier publisher
left unfinished and refuses that publisher from then on, even in the middle of its send. Only a search of the topic
*after* that is conclusive.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from core.errors import BrokerUnavailable, MessageTooLarge
from core.settings import KafkaSettings
from stream.connection import aiokafka_options
from stream.producer import STOP_LIMIT_S, TOO_LARGE, stop_in_time


class SendReply(Protocol):
    """A function that sends one message; `Producer.send_once` is the one without a transaction."""

    def __call__(self, topic: str, key: str, value: bytes, headers: Mapping[str, str]) -> Awaitable[None]:
        """Send; raises BrokerUnavailable or MessageTooLarge."""


def transactional_id(settings: KafkaSettings, row: int) -> str:
    """Return the transactional id of an outbox row, the same for every publisher."""
    return f"{settings.prefix}reply-{row}"


@asynccontextmanager
async def transaction(settings: KafkaSettings, row: int) -> AsyncIterator[SendReply]:
    """Fence off earlier publishers of an outbox row, and yield the function that sends its reply.

    Raises BrokerUnavailable if the broker has no transactions, does not answer, or has fenced off this publisher.
    """
    client = AIOKafkaProducer(
        **aiokafka_options(settings),
        transactional_id=transactional_id(settings, row),
        transaction_timeout_ms=int(settings.timeout_s * 1000),
        request_timeout_ms=int(settings.timeout_s * 1000),
    )

    async def send(topic: str, key: str, value: bytes, headers: Mapping[str, str]) -> None:
        packed = [(name, text.encode()) for name, text in headers.items()]

        async def write() -> None:
            async with client.transaction():
                await client.send_and_wait(topic, key=key.encode(), value=value, headers=packed)

        try:
            await _in_time(write(), settings.timeout_s)
        except TOO_LARGE as error:
            raise MessageTooLarge(f"A reply of {len(value):,} bytes is more than the broker takes.") from error

    try:
        async with asyncio.timeout(settings.timeout_s):
            await client.start()
        yield send
    except (KafkaError, OSError, TimeoutError) as error:
        raise BrokerUnavailable(
            f"The broker at {settings.bootstrap} did not take a reply in a transaction: {error!r}. If it has no "
            "transactions, set REJOINDER_KAFKA__TRANSACTIONS=false."
        ) from error
    finally:
        await stop_in_time(client)


async def _in_time(work: Coroutine[Any, Any, None], limit_s: float) -> None:
    """Do work in a transaction. Raises TimeoutError.

    aiokafka aborts a transaction that fails or is cancelled, and waits for that as long as the coordinator is away.
    """
    task = asyncio.create_task(work)
    try:
        async with asyncio.timeout(limit_s):
            await asyncio.shield(task)
    finally:
        # The first cancellation begins the abort, the second ends the wait for it.
        for _ in range(2):
            task.cancel()
            await asyncio.wait({task}, timeout=STOP_LIMIT_S)
