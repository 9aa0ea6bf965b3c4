"""A message that takes worker after worker down is counted over their ends, and only that one is given up."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.errors import DeadlyMessage, ModelUnavailable
from stream.in_hand import InHand
from stream.liveness import Liveness
from tests.core.turned_clock import TurnedClock

MOST_STARTS = 3
KILLED_AT_WORK = """
import asyncio, os, signal, sys
from pathlib import Path
from stream.in_hand import InHand
from stream.liveness import Liveness

async def main():
    async with InHand(Path(sys.argv[1]), 3, Liveness(60)).noted("flags", 0, b"crashes"):
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


Notes = Callable[..., InHand]


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    """Give a way to begin the notes of one more worker in the same folder."""
    workers = []

    def begin(folder: Path = tmp_path, liveness: Liveness | None = None) -> InHand:
        workers.append(InHand(folder, MOST_STARTS, liveness or Liveness(60)))
        return workers[-1]

    yield begin
    for worker in workers:
        worker.close()


async def work(in_hand: InHand, message: bytes = b"crashes", partition: int = 0) -> None:
    async with in_hand.noted("flags", partition, message):
        pass


@asynccontextmanager
async def at_work(in_hand: InHand, message: bytes, partition: int = 0) -> AsyncIterator[asyncio.Task[None]]:
    """Have a message in hand while the body runs; what is in the folder meanwhile is what a crash would leave."""
    begun = asyncio.Event()

    async def never_done() -> None:
        async with in_hand.noted("flags", partition, message):
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(never_done())
    await begun.wait()
    yield task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_message_that_kills_its_worker_is_given_up_after_so_many_starts(notes: Notes, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    for _ in range(MOST_STARTS):
        killed = subprocess.run([sys.executable, "-c", KILLED_AT_WORK, str(tmp_path)], cwd=root, check=False)
        assert killed.returncode == -9
    with pytest.raises(DeadlyMessage, match="ended 3 times"):
        await work(notes())
    await work(notes())  # a replay begins anew


async def test_what_comes_to_its_end_is_not_counted_whatever_came_of_it(notes: Notes) -> None:
    in_hand = notes()
    for _ in range(2 * MOST_STARTS):
        await work(in_hand)
        with pytest.raises(ModelUnavailable):
            async with in_hand.noted("flags", 0, b"crashes"):
                raise ModelUnavailable("away")
        async with at_work(in_hand, b"crashes"):
            pass  # cancelled: its worker was told to stop


async def test_a_failed_try_does_not_wipe_out_the_crashes_before_it(notes: Notes) -> None:
    async with at_work(notes(), b"crashes"):
        second = notes()
        with pytest.raises(ModelUnavailable):
            async with second.noted("flags", 0, b"crashes"):
                raise ModelUnavailable("away")
        async with at_work(second, b"crashes"), at_work(notes(), b"crashes"):
            with pytest.raises(DeadlyMessage):
                await work(notes())


async def test_the_next_message_of_a_partition_is_no_suspect(notes: Notes, caplog: pytest.LogCaptureFixture) -> None:
    async with at_work(notes(), b"crashes"):
        with caplog.at_level(logging.WARNING):
            await work(notes(), b"another")
        assert not caplog.records


async def test_messages_that_were_in_hand_together_are_tried_one_at_a_time(notes: Notes) -> None:
    first = notes()
    async with at_work(first, b"crashes", 0), at_work(first, b"innocent", 1):
        second = notes()
        async with at_work(second, b"crashes", 0):
            waiting = asyncio.create_task(work(second, b"innocent", 1))
            await asyncio.wait({asyncio.create_task(work(second, b"new", 2))})
            assert not waiting.done(), "one at a time, and others go on"
        await waiting


async def test_a_message_that_hung_until_its_worker_gave_up_is_counted(notes: Notes) -> None:
    liveness = Liveness(60, clock := TurnedClock(), longest_work_s=100)
    for _ in range(MOST_STARTS):
        async with at_work(notes(liveness=liveness), b"hangs"):
            with liveness.working("flags 0:1"):
                clock.turn(200)
                await liveness.watch(_never_asked, every_s=1)
    with pytest.raises(DeadlyMessage):
        await work(notes(), b"hangs")


async def test_a_folder_that_cannot_be_written_costs_the_count_and_nothing_else(
    notes: Notes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    await work(notes(tmp_path / "file"))
    assert "are not counted" in caplog.text


async def _never_asked() -> bool:
    raise AssertionError("a worker that works is not probed")
