"""A TCP proxy between clients and a server that can be cut or stalled for a while, to simulate outages."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Literal

Outage = Literal["cut", "stall"]
Dial = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class Wire:
    """A TCP port on loopback that forwards connections to whatever `dial` connects to.

    When cut, it drops all connections, new ones too. When stalled, it keeps them but forwards nothing, which is what a
    lost network looks like to both ends.
    """

    def __init__(self, port: int, dial: Dial) -> None:
        self.port = port
        self._dial = dial
        self._writers: set[asyncio.StreamWriter] = set()
        self._carriers: set[asyncio.Task[None]] = set()
        self._is_cut = False
        self._flowing = asyncio.Event()
        self._flowing.set()

    @asynccontextmanager
    async def carrying(self) -> AsyncIterator[None]:
        """Forward connections while the body runs."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        try:
            yield
        finally:
            server.close()
            self._drop()
            self._flowing.set()
            await asyncio.gather(*self._carriers)

    async def fail_for(self, seconds: float, how: Outage) -> None:
        """Cut or stall the wire for some seconds."""
        try:
            if how == "cut":
                self._is_cut = True
                self._drop()
            else:
                self._flowing.clear()
            await asyncio.sleep(seconds)
        finally:
            self._is_cut = False
            self._flowing.set()

    def _drop(self) -> None:
        for writer in tuple(self._writers):
            writer.transport.abort()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        carrier = asyncio.create_task(self._carry(reader, writer))
        self._carriers.add(carrier)
        carrier.add_done_callback(self._carriers.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with AsyncExitStack() as stack:
            self._keep(stack, writer)
            if self._is_cut:
                return
            with suppress(OSError):
                far_reader, far_writer = await self._dial()
                self._keep(stack, far_writer)
                ways = [
                    asyncio.create_task(self._pump(reader, far_writer)),
                    asyncio.create_task(self._pump(far_reader, writer)),
                ]
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                for way in ways:
                    way.cancel()

    def _keep(self, stack: AsyncExitStack, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        stack.callback(self._writers.discard, writer)
        stack.callback(writer.transport.abort)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()


def to_port(port: int) -> Dial:
    """Return a Dial to a server on loopback."""
    return lambda: asyncio.open_connection("127.0.0.1", port)


def to_socket(path: str) -> Dial:
    """Return a Dial to a server that listens on a Unix socket."""
    return lambda: asyncio.open_unix_connection(path)


def unused_port() -> int:
    """Return a port that nobody listens on, below the range from which systems assign ephemeral ports."""
    while True:
        port = random.choice(range(15_000, 32_000))
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
