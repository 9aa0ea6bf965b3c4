"""A process that starts waits for its ledger, and answers probes meanwhile."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from core.errors import EmptyLedger
from core.retry import Backoff
from core.settings import LedgerSettings, Settings
from rejoinder import starting
from rejoinder.assembly import open_ledger
from rejoinder.starting import ledger_ready, waiting_room
from tests.ports import unused_port

HANGS_IN_A_THREAD = """
import asyncio, sys, threading
from contextlib import asynccontextmanager
from rejoinder import starting
from rejoinder.cli import main
from stream import worker

@asynccontextmanager
async def no_pipeline(*arguments):
    yield None

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


async def test_a_process_waits_for_its_ledger_and_migrates_it(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    listener = Listener()
    starting.log.addHandler(listener)
    waiting = asyncio.create_task(ledger_ready(settings, asyncio.Event(), WAITS))
    await asyncio.wait_for(listener.heard.wait(), 60)
    starting.log.removeHandler(listener)
    assert "waiting for the ledger" in caplog.text and not waiting.done()
    (tmp_path / "later").mkdir()
    assert await asyncio.wait_for(waiting, 60)
    async with open_ledger(settings) as ledger:
        await ledger.ping()


async def test_a_process_that_is_told_to_stop_waits_no_longer(settings: Settings) -> None:
    stop = asyncio.Event()
    waiting = asyncio.create_task(ledger_ready(settings, stop))
    stop.set()
    assert not await asyncio.wait_for(waiting, 60)


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

    async with waiting_room("127.0.0.1", port):
        assert await ask("GET", "/healthz") == (200, {"status": "ok"})
        status, body = await ask("GET", "/readyz")
        assert status == 503 and not body["ready"] and "ledger" in body["away"]
        status, body = await ask("POST", "/v1/flags")
        assert (status, body["error"]) == (503, "unavailable")


def test_a_worker_that_died_ends_although_a_thread_of_it_hangs(tmp_path: Path) -> None:
    died = subprocess.run(
        [sys.executable, "-c", HANGS_IN_A_THREAD, "0.1"], cwd=Path(__file__).parents[2], check=False, timeout=120,
        env={**os.environ, "REJOINDER_DATA_DIR": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert died.returncode == 70, died.stderr
    assert "One message took too long. Exiting" in died.stderr and "something in it hangs" in died.stderr
