"""Children: started, awaited, ended; gone when we are; started again when they die."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.child import Child, keep_running
from core.errors import Unavailable
from core.private_files import MOST_LOG_BYTES, end_of_log
from core.retry import Backoff
from tests.core.turned_clock import TurnedClock

SLEEPER = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)",
]


async def never() -> bool:
    return False


async def up(child: Child) -> None:
    async def said_so() -> bool:
        return "up" in child.tail()

    await child.wait_until_ready(said_so, 10)


async def test_a_child_runs_and_stops(tmp_path: Path) -> None:
    child = Child("sleeper", SLEEPER, log_file=tmp_path / "log")
    await child.start()
    await up(child)
    assert child.running and child.pid
    await child.stop()
    assert not child.running and await child.wait() == -signal.SIGTERM
    await child.stop()


async def test_a_child_that_ignores_the_request_is_killed(tmp_path: Path) -> None:
    child = Child("stubborn", STUBBORN, log_file=tmp_path / "log")
    await child.start()
    await up(child)
    await child.stop(grace_s=0.1)
    assert await child.wait() == -signal.SIGKILL


async def test_a_child_that_dies_early_is_reported_with_the_end_of_its_log(tmp_path: Path) -> None:
    child = Child("early", [sys.executable, "-c", "print('no disk'); raise SystemExit(3)"], log_file=tmp_path / "log")
    await child.start()
    with pytest.raises(Unavailable, match=r"early ended with exit code 3(.|\n)*no disk"):
        await child.wait_until_ready(never, 10)


async def test_a_log_that_has_grown_large_is_put_away_at_the_next_start(tmp_path: Path) -> None:
    log, old = tmp_path / "log", tmp_path / "log.old"
    speaker = Child("speaker", [sys.executable, "-c", "print('up')"], log_file=log)
    old.write_text("before")
    with log.open("wb") as file:
        file.truncate(MOST_LOG_BYTES)
    await speaker.start()
    await speaker.wait()
    assert old.read_text() == "before" and log.stat().st_size == MOST_LOG_BYTES + 3, "not large enough yet"
    await speaker.start()
    await speaker.wait()
    assert (speaker.tail(), old.stat().st_size) == ("up", MOST_LOG_BYTES + 3)


async def test_only_the_end_of_a_log_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("x" * 1_000_000 + "\nthe end\n")
    assert end_of_log(log).endswith("x\nthe end\n") and len(end_of_log(log)) < 100_000


async def test_a_child_that_is_never_ready_is_reported(tmp_path: Path) -> None:
    child = Child("slow", SLEEPER, log_file=tmp_path / "log")
    await child.start()
    with pytest.raises(Unavailable, match="slow was not ready"):
        await child.wait_until_ready(never, 0.1)
    await child.stop()


async def test_a_dead_child_is_started_again_until_we_stop(tmp_path: Path) -> None:
    started: list[Child] = []
    thrice = asyncio.Event()

    async def start() -> Child:
        child = Child("phoenix", SLEEPER, log_file=tmp_path / "log")
        await child.start()
        started.append(child)
        if len(started) == 3:
            thrice.set()
        else:
            assert child.pid
            os.kill(child.pid, signal.SIGKILL)
        return child

    clock = TurnedClock()
    keeper = asyncio.create_task(keep_running(start, Backoff(0.5, 15.0), clock))
    await asyncio.wait_for(thrice.wait(), 60)
    assert clock.slept == [0.5, 1.0]
    keeper.cancel()
    await asyncio.gather(keeper, return_exceptions=True)
    assert not any(child.running for child in started)


async def test_a_child_that_ran_long_is_started_again_after_the_shortest_wait() -> None:
    clock = TurnedClock()
    starts = 0

    async def start() -> Child:
        nonlocal starts
        starts += 1
        if starts == 3:
            await clock.sleep(16.0)
        if starts == 4:
            raise asyncio.CancelledError
        raise Unavailable("it does not come up")

    with pytest.raises(asyncio.CancelledError):
        await keep_running(start, Backoff(0.5, 15.0), clock)
    assert clock.slept == [0.5, 1.0, 16.0, 0.5]


async def test_a_child_that_the_system_refuses_to_start_is_tried_again() -> None:
    clock = TurnedClock()
    obstacles = iter([OSError("no memory to fork"), OSError("no space for the log"), asyncio.CancelledError()])

    async def start() -> Child:
        raise next(obstacles)

    with pytest.raises(asyncio.CancelledError):
        await keep_running(start, Backoff(0.5, 15.0), clock)
    assert clock.slept == [0.5, 1.0]


async def test_a_child_dies_with_a_parent_that_is_killed() -> None:
    code = (
        "import asyncio\nfrom core.child import Child\n"
        f"async def main():\n    child = Child('c', {SLEEPER!r})\n    await child.start()\n"
        "    print(child.pid, flush=True)\n    await asyncio.sleep(60)\nasyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        # The child writes to the same pipe, before its parent or after it.
        while not (told := await asyncio.to_thread(parent.stdout.readline)).strip().isdigit():
            assert told
        pid = int(told)
        parent.kill()
    async with asyncio.timeout(60):
        while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]:
            await asyncio.sleep(0.02)
