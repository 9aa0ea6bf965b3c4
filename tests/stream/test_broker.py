"""The embedded broker: starts where nobody listens, says so where somebody does, never outlives us."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import BrokerUnavailable, Unavailable
from core.settings import KafkaSettings
from stream.broker import EmbeddedBroker, reachable
from stream.topics import Topics, ensure_topics
from tests.ports import unused_port

pytestmark = pytest.mark.live


async def test_it_starts_takes_topics_and_stops() -> None:
    broker = EmbeddedBroker()
    child = await broker.start()
    kafka = KafkaSettings(bootstrap=broker.bootstrap)
    await ensure_topics(kafka)
    await ensure_topics(kafka)
    assert await reachable(kafka)
    await child.stop()
    assert not await reachable(kafka)


async def test_one_broker_that_answers_is_enough_however_their_list_is_written() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert await reachable(KafkaSettings(bootstrap=f"localhost:{unused_port()}, 127.0.0.1:{port},"))


async def test_a_taken_port_is_a_clear_error() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable, match=f"Port {port} is taken"):
            await EmbeddedBroker(port=port).start()


async def test_without_a_broker_topics_cannot_be_made() -> None:
    with pytest.raises(BrokerUnavailable, match="REJOINDER_KAFKA__BOOTSTRAP"):
        await ensure_topics(KafkaSettings(bootstrap="127.0.0.1:9", timeout_s=1))


async def test_a_killed_parent_takes_its_broker_along(tmp_path: Path) -> None:
    code = (
        "import asyncio, pathlib, sys\n"
        "from stream.broker import EmbeddedBroker\n"
        "async def main():\n"
        "    child = await EmbeddedBroker(log_file=pathlib.Path(sys.argv[1])).start()\n"
        "    print(child.pid, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "log")], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(await asyncio.to_thread(parent.stdout.readline))
    os.kill(pid, 0)
    parent.kill()
    await asyncio.to_thread(parent.wait)
    parent.stdout.close()
    async with asyncio.timeout(60):
        while _lives(pid):
            await asyncio.sleep(0.02)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_topics_are_named_for_their_roles() -> None:
    assert set(Topics("p.").all()) == {
        "p.flags", "p.triaged", "p.grounded", "p.drafts", "p.replies", "p.outcomes", "p.dead-letters"
    }  # fmt: skip
