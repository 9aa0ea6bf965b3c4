"""A Kafka producer for everything outside Faust: gateway, outbox, sweeper, dead letters."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordListTooLargeError

from core.errors import BrokerUnavailable, MessageTooLarge
from core.settings import KafkaSettings
from stream.connection import aiokafka_options
from stream.messages import MAX_MESSAGE
from stream.signing import Signatures

TOO_LARGE = (MessageSizeTooLargeError, RecordListTooLargeError)
"""Errors from client or broker for a message over the size limit, whatever that broker's limit is."""

STOP_LIMIT_S = 1.0
"""Longest wait for a client whose broker does not answer; it goes on stopping in the background."""


class Producer:
    """A Kafka producer whose sends return once all in-sync replicas have the message.

    `signatures` sign the records between stages; processes that send none of these can do without. The connections are
    made on first use and again after a failure, so a process can start before its broker.
    """

    def __init__(self, settings: KafkaSettings, signatures: Signatures | None = None) -> None:
        self._settings = settings
        self._signatures = signatures
        connection = aiokafka_options(settings)
        self._retrying = _Client(connection, settings.timeout_s, retries=True)
        self._sending_once = _Client(connection, settings.timeout_s, retries=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Disconnect; safe to call twice."""
        await self._retrying.close()
        await self._sending_once.close()

    async def send(
        self, topic: str, key: str | bytes | None, value: bytes | None, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send one message. Raises BrokerUnavailable if it is not acknowledged in time, or MessageTooLarge.

        If an acknowledgement is lost, the message is sent again, so it may be on its topic twice.
        """
        await self._send_all(self._retrying, topic, [(key, value)], headers)

    async def send_once(self, topic: str, key: str, value: bytes, headers: Mapping[str, str]) -> None:
        """Send one message, and never again by itself, whatever the broker answers.

        Raises BrokerUnavailable if it is not acknowledged in time, even if it has arrived: look at the topic before you
        send it again. Raises MessageTooLarge.
        """
        await self._send_all(self._sending_once, topic, [(key, value)], headers)

    async def send_all(
        self,
        topic: str,
        messages: Sequence[tuple[str | bytes | None, bytes | None]],
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Send many messages and wait for all.

        Raises BrokerUnavailable if any is not acknowledged in time. Raises MessageTooLarge, which has the indexes of
        those too large, once all others are acknowledged.
        """
        await self._send_all(self._retrying, topic, messages, headers)

    async def _send_all(
        self,
        through: _Client,
        topic: str,
        messages: Sequence[tuple[str | bytes | None, bytes | None]],
        headers: Mapping[str, str] | None,
    ) -> None:
        packed = [(name, text.encode()) for name, text in (headers or {}).items()]
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                client = await through.connected()
                waiting = [
                    await _enqueued(client, topic, key, value, [*packed, *self._signed(topic, key, value)])
                    for key, value in ((_bytes(key), value) for key, value in messages)
                ]
                results = await asyncio.gather(*waiting, return_exceptions=True)
            _raise_first(result for result in results if not isinstance(result, TOO_LARGE))
        except (KafkaError, OSError, TimeoutError) as error:
            await through.drop()
            raise BrokerUnavailable(
                f"The broker at {self._settings.bootstrap} did not acknowledge a message for {topic}: {error!r}."
            ) from error
        places = tuple(place for place, result in enumerate(results) if isinstance(result, TOO_LARGE))
        if places:
            sizes = ", ".join(f"{len(messages[place][1] or b''):,}" for place in places[:5])
            raise MessageTooLarge(
                f"Too many bytes for a message on {topic}: {sizes}. {MAX_MESSAGE:,} is the most, or less where the "
                "broker is set so.",
                places,
            )

    def _signed(self, topic: str, key: bytes | None, value: bytes | None) -> list[tuple[str, bytes]]:
        return self._signatures.headers(topic, key, value) if self._signatures else []


class _Client:
    """An aiokafka producer that is connected on first use, and again once it was dropped.

    Without `retries`, a message whose acknowledgement is missing fails at once, as does one whose partition has no
    leader at the moment.
    """

    def __init__(self, connection: Mapping[str, Any], timeout_s: float, *, retries: bool) -> None:
        self._connection = connection
        self._timeout_ms = int(timeout_s * 1000)
        self._retries = retries
        self._client: AIOKafkaProducer | None = None
        self._connecting = asyncio.Lock()

    async def connected(self) -> AIOKafkaProducer:
        async with self._connecting:
            if self._client is None:
                client = AIOKafkaProducer(**self._connection, acks="all", request_timeout_ms=self._timeout_ms)
                if not self._retries:
                    # aiokafka has no setting for it; it retries until a batch has reached this age, in seconds.
                    client._message_accumulator._batch_ttl = -1
                try:
                    await client.start()
                except BaseException:
                    await client.stop()
                    raise
                self._client = client
        return self._client

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.stop()

    async def drop(self) -> None:
        """Disconnect from a broker that may not answer."""
        client, self._client = self._client, None
        if client is not None:
            await stop_in_time(client)


async def stop_in_time(client: AIOKafkaProducer) -> None:
    """Disconnect a client whose broker may not answer, and wait for that no longer than STOP_LIMIT_S."""
    stopping = asyncio.ensure_future(client.stop())
    await asyncio.wait({stopping}, timeout=STOP_LIMIT_S)


def _bytes(key: str | bytes | None) -> bytes | None:
    return key.encode() if isinstance(key, str) else key


async def _enqueued(
    client: AIOKafkaProducer, topic: str, key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes]]
) -> Awaitable[Any]:
    """Hand one message to the client; the result completes when the broker has answered."""
    try:
        if len(value or b"") > MAX_MESSAGE:
            raise MessageSizeTooLargeError
        acknowledgement: Awaitable[Any] = await client.send(topic, key=key, value=value, headers=headers)
    except TOO_LARGE as error:
        refusal: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        refusal.set_exception(error)
        return refusal
    return acknowledgement


def _raise_first(results: Iterable[object]) -> None:
    for result in results:
        if isinstance(result, BaseException):
            raise result
