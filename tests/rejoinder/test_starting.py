"""A process that starts waits for its ledger, and answers probes meanwhile."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from core.errors import EmptyLedger
from core.retry import Backoff
from core.settings import EmbeddingSettings, LedgerSettings, Settings
from rejoinder import starting
from rejoinder.assembly import open_ledger
from rejoinder.starting import answer_while_starting, run_stages, wait_for_ledger
from rejoinder.web import serving
from tests.ports import unused_port

HANGS_IN_A_THREAD = """
import asyncio, sys, threading
from contextlib import asynccontextmanager
from rejoinder import starting
from rejoinder.cli import main
from stream import worker

@asynccontextmanager
async def no_pipeline(*arguments):
    yield object()

async def died(*arguments):
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hang():
        loop.call_soon_threadsafe(begun.set)
        threading.Event().wait()

    hanging = asyncio.ensure_future(asyncio.to_thread(hang))
    await begun.wait()
    hanging.cancel()
    raise worker.WorkerDied("One message took too long.")

worker.run_worker, starting.open_pipeline, starting.build_stages = died, no_pipeline, lambda *arguments: []
starting.END_S = float(sys.argv.pop())
main(["worker"])
"""
WAITS = Backoff(first_s=0.01, longest_s=0.01)


class Listener(logging.Handler):
    """What notices that something was logged."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.set()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return settings whose ledger is away until its folder is there."""
    return Settings(data_dir=tmp_path, ledger=LedgerSettings(url=f"sqlite+aiosqlite:///{tmp_path}/later/ledger.db"))


@asynccontextmanager
async def something_logged() -> AsyncIterator[asyncio.Event]:
    """Give what is set when a process that starts logs something."""
    listener = Listener()
    starting.log.addHandler(listener)
    yield listener.heard
    starting.log.removeHandler(listener)


async def test_a_process_waits_for_its_ledger_and_gets_it_migrated(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def first_ping() -> None:
        async with wait_for_ledger(settings, asyncio.Event(), WAITS) as ledger:
            assert ledger is not None
            await ledger.ping()

    async with something_logged() as heard:
        waiting = asyncio.create_task(first_ping())
        await asyncio.wait_for(heard.wait(), 60)
    assert "waiting for the ledger" in caplog.text and not waiting.done()
    (tmp_path / "later").mkdir()
    await asyncio.wait_for(waiting, 60)


async def test_a_process_that_is_told_to_stop_waits_no_longer(settings: Settings) -> None:
    stop = asyncio.Event()

    async def wait() -> None:
        async with wait_for_ledger(settings, stop) as ledger:
            assert ledger is None

    waiting = asyncio.create_task(wait())
    stop.set()
    await asyncio.wait_for(waiting, 60)


async def test_a_worker_waits_for_its_embedding_server(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint = f"http://127.0.0.1:{unused_port()}/v1"
    embedding = EmbeddingSettings(kind="endpoint", endpoint=endpoint, model="some")
    monkeypatch.setattr("models.endpoint.BACKOFF", WAITS)
    (tmp_path / "later").mkdir()
    stop = asyncio.Event()
    async with something_logged() as heard:
        working = asyncio.create_task(
            run_stages(settings.model_copy(update={"embedding": embedding}), ["ground"], stop)
        )
        await asyncio.wait({working, asyncio.ensure_future(heard.wait())}, return_when=asyncio.FIRST_COMPLETED)
    assert not working.done() and "waiting for the embedding server" in caplog.text
    stop.set()
    await asyncio.wait_for(working, 60)


async def test_a_command_that_only_looks_does_not_make_the_tables(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "later").mkdir()
    with pytest.raises(EmptyLedger, match="rejoinder ledger migrate"):
        async with open_ledger(settings):
            pass
    assert not list((tmp_path / "later").iterdir())


async def test_while_it_waits_it_lives_and_takes_nothing() -> None:
    port = unused_port()

    async def ask(method: str, path: str) -> tuple[int, Any]:
        async with aiohttp.ClientSession() as http, http.request(method, f"http://127.0.0.1:{port}{path}") as answer:
            return answer.status, await answer.json()

    async with answer_while_starting("127.0.0.1", port) as leave:
        assert await ask("GET", "/healthz") == (200, {"status": "ok"})
        status, body = await ask("GET", "/readyz")
        assert status == 503 and not body["ready"] and "waits for the ledger" in body["away"]["process"]
        status, body = await ask("POST", "/v1/flags")
        assert (status, body["error"]) == (503, "unavailable")
        await leave()
        async with serving(web.Application(), "127.0.0.1", port):
            pass


def test_a_worker_that_died_ends_although_a_thread_of_it_hangs(tmp_path: Path) -> None:
    died = subprocess.run(
        [sys.executable, "-c", HANGS_IN_A_THREAD, "0.1"], cwd=Path(__file__).parents[2], check=False, timeout=60,
        env={**os.environ, "REJOINDER_DATA_DIR": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert died.returncode == 70, died.stderr
    assert "One message took too long. Exiting" in died.stderr and "something in it hangs" in died.stderr
