from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from evaluation.stress.proxy import Wire, to_port, unused_port


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    wire = Wire(unused_port(), to_port(server.sockets[0].getsockname()[1]))
    async with wire.carrying():
        yield wire
    server.close()


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    writer.write(b"hello")
    return await reader.read(100)


async def test_a_cut_wire_drops_old_and_new_connections_and_carries_again(wire: Wire) -> None:
    old = await asyncio.open_connection("127.0.0.1", wire.port)
    assert await ask(*old) == b"hello"
    outage = asyncio.create_task(wire.fail_for(60, "cut"))
    await asyncio.sleep(0)
    for connection in (old, await asyncio.open_connection("127.0.0.1", wire.port)):
        with pytest.raises((ConnectionError, AssertionError)):
            assert await ask(*connection)
        connection[1].close()
    outage.cancel()
    await asyncio.gather(outage, return_exceptions=True)
    new = await asyncio.open_connection("127.0.0.1", wire.port)
    assert await ask(*new) == b"hello"
    new[1].close()


async def test_a_stalled_wire_keeps_connections_and_loses_nothing(wire: Wire) -> None:
    connection = await asyncio.open_connection("127.0.0.1", wire.port)
    outage = asyncio.create_task(wire.fail_for(60, "stall"))
    await asyncio.sleep(0)
    answer = asyncio.create_task(ask(*connection))
    done, _ = await asyncio.wait({answer}, timeout=0.2)
    assert not done
    outage.cancel()
    async with asyncio.timeout(30):
        assert await answer == b"hello"
    connection[1].close()
