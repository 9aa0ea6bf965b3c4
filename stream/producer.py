"""Send bytes to Kafka outside of Faust: gateway, outbox, sweeper, dead letters."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from core.errors import BrokerUnavailable
from core.settings import KafkaSettings


class Producer:
    """A Kafka producer whose sends return only when all in-sync replicas have them.

    Connects on first use and again after a failure, so that a broker that is away at start-up is no reason to die.
    """

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._client: AIOKafkaProducer | None = None
        self._connecting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Disconnect; safe to call twice."""
        client, self._client = self._client, None
        if client is not None:
            await client.stop()

    async def send(
        self, topic: str, key: str | bytes | None, value: bytes | None, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send one message; raises BrokerUnavailable when it is not acknowledged in time."""
        await self.send_all(topic, [(key, value)], headers)

    async def send_all(
        self,
        topic: str,
        messages: Sequence[tuple[str | bytes | None, bytes | None]],
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Send many messages and wait for all; raises BrokerUnavailable when any is not acknowledged in time."""
        packed = [(name, text.encode()) for name, text in (headers or {}).items()]
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                client = await self._connected()
                waiting = [
                    await client.send(
                        topic, key=key.encode() if isinstance(key, str) else key, value=value, headers=packed
                    )
                    for key, value in messages
                ]
                await asyncio.gather(*waiting)
        except (KafkaError, OSError, TimeoutError) as error:
            await self._drop()
            raise BrokerUnavailable(
                f"The broker at {self._settings.bootstrap} did not acknowledge a message for {topic}: {error!r}."
            ) from error

    async def _connected(self) -> AIOKafkaProducer:
        async with self._connecting:
            if self._client is None:
                client = AIOKafkaProducer(
                    bootstrap_servers=self._settings.bootstrap,
                    acks="all",
                    request_timeout_ms=int(self._settings.timeout_s * 1000),
                )
                try:
                    await client.start()
                except BaseException:
                    await client.stop()
                    raise
                self._client = client
        return self._client

    async def _drop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            stopping = asyncio.ensure_future(client.stop())
            await asyncio.wait({stopping}, timeout=1.0)
