"""A message that takes worker after worker down is counted over their ends, and only that one is given up."""

from __future__ import annotations

import asyncio
import errno
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
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
    async with InHand(Path(sys.argv[1]), 3, Liveness(60)).noted("flags", 0, 7, b"crashes"):
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


async def work(in_hand: InHand, message: bytes = b"crashes", partition: int = 0, offset: int = 7) -> None:
    async with in_hand.noted("flags", partition, offset, message):
        pass


async def end_with(in_hand: InHand, *messages: bytes) -> None:
    """Let a worker end while it has a message of each of the first partitions in hand."""
    async with AsyncExitStack() as stack:
        for partition, message in enumerate(messages):
            await stack.enter_async_context(at_work(in_hand, message, partition))
        in_hand.close()


@asynccontextmanager
async def at_work(in_hand: InHand, message: bytes, partition: int = 0) -> AsyncIterator[asyncio.Task[None]]:
    """Have a message in hand while the body runs."""
    begun = asyncio.Event()

    async def never_done() -> None:
        async with in_hand.noted("flags", partition, 7, message):
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
    for _ in range(2):  # also where its dead letter could not be written before the next end
        with pytest.raises(DeadlyMessage, match="ended 3 times"):
            await work(notes())
    await work(notes(), offset=8)  # a replay begins anew


async def test_what_comes_to_its_end_is_not_counted_whatever_came_of_it(notes: Notes) -> None:
    in_hand = notes()
    for _ in range(2 * MOST_STARTS):
        await work(in_hand)
        with pytest.raises(ModelUnavailable):
            async with in_hand.noted("flags", 0, 7, b"crashes"):
                raise ModelUnavailable("away")
        async with at_work(in_hand, b"crashes"):
            pass  # cancelled: its worker was told to stop


async def test_a_failed_try_does_not_wipe_out_the_crashes_before_it(notes: Notes) -> None:
    await end_with(notes(), b"crashes")
    second = notes()
    with pytest.raises(ModelUnavailable):
        async with second.noted("flags", 0, 7, b"crashes"):
            raise ModelUnavailable("away")
    await end_with(second, b"crashes")
    await end_with(notes(), b"crashes")
    with pytest.raises(DeadlyMessage):
        await work(notes())


async def test_the_next_message_of_a_partition_is_no_suspect(notes: Notes, caplog: pytest.LogCaptureFixture) -> None:
    await end_with(notes(), b"crashes")
    caplog.clear()
    await work(notes(), b"another")
    assert not caplog.records


async def test_messages_that_were_in_hand_together_are_tried_one_at_a_time(
    notes: Notes, caplog: pytest.LogCaptureFixture
) -> None:
    await end_with(notes(), b"crashes", b"innocent")
    second = notes()
    async with at_work(second, b"crashes", 0):
        waiting = asyncio.create_task(work(second, b"innocent", 1))
        await asyncio.wait({asyncio.create_task(work(second, b"new", 2))})
        assert not waiting.done(), "one at a time, and others go on"
        assert "flags 1:7 waits" in caplog.text and "flags 1:7 in hand" not in caplog.text
    await waiting
    assert "flags 1:7 in hand; this is its start 2 of 3" in caplog.text


async def test_an_innocent_message_survives_a_crash_however_few_attempts_there_are(tmp_path: Path) -> None:
    for _ in range(2):
        await end_with(InHand(tmp_path, 1, Liveness(60)), b"innocent")
    with closing(InHand(tmp_path, 1, Liveness(60))) as third:
        await work(third, b"innocent")


async def test_a_message_that_another_worker_has_in_hand_still_is_no_suspect_and_its_note_is_left_alone(
    notes: Notes, caplog: pytest.LogCaptureFixture
) -> None:
    first = notes()
    async with at_work(first, b"crashes"):
        await work(notes())  # the partition was given to this one meanwhile
        assert "worker ended" not in caplog.text
        first.close()
    await work(notes())
    assert "this is its start 2" in caplog.text


async def test_a_note_that_cannot_be_read_costs_the_count_and_no_message(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("stream.in_hand.os.pread", fail)
    worker = notes()
    await work(worker)
    await work(worker)
    assert [record.getMessage() for record in caplog.records] == [
        "crashes on messages of flags 0 are not counted: [Errno 5] Input/output error"
    ]


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
