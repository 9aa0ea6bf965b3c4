"""A proxy in front of a broker that loses the broker's answer to the first message: its connection is cut."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

PRODUCE = 0
"""The key of Kafka's request that writes messages."""


class LostAnswer:
    """The proxy; it passes on everything else."""

    def __init__(self, broker_port: int) -> None:
        self._broker_port = broker_port
        self.lost = 0

    @asynccontextmanager
    async def listening(self, port: int) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._carry, "127.0.0.1", port)
        try:
            yield
        finally:
            server.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._broker_port)
        loses = asyncio.Event()

        async def requests() -> None:
            while True:
                frame = await _frame(reader)
                (api,) = struct.unpack_from(">h", frame, 4)
                if api == PRODUCE and not self.lost:
                    self.lost += 1
                    loses.set()
                far_writer.write(frame)

        async def answers() -> None:
            while True:
                frame = await _frame(far_reader)
                if loses.is_set():
                    return
                writer.write(frame)

        ways = [asyncio.create_task(requests()), asyncio.create_task(answers())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for end in (writer, far_writer):
                end.close()
                with suppress(OSError):
                    await end.wait_closed()


async def _frame(reader: asyncio.StreamReader) -> bytes:
    """Return the next request or answer with its length in front. Raises IncompleteReadError at the end."""
    length = await reader.readexactly(4)
    return length + await reader.readexactly(*struct.unpack(">i", length))
