"""Note which messages a worker has in hand, where the note outlives it: a message can take its worker down with it.

Such a message comes again to the next worker, and to the one after that. So a try begins with a note of how often the
message was begun, and the note is taken back when the try is over, whatever came of it. What is still there at the next
start was in hand when a worker ended.

The notes lie in the data folder, one of a fixed size for each partition. They are written in place and never synced: a
file outlives its process without that, and no message waits for the disk. While a worker has a message in hand it holds
the note's lock, which ends with the worker: a note that can be locked is of one that is done or gone, although workers
may share the folder and partitions move between them.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import logging
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from io import FileIO
from pathlib import Path

from core.errors import DeadlyMessage
from core.private_files import private_folder
from stream.liveness import Liveness

log = logging.getLogger(__name__)

FEWEST_STARTS = 3
"""Starts that a message has in any case: most of those in hand at a crash have nothing to do with it."""
DEADLY = "while it had this message in hand"
"""What the reason of a message that was given up says."""

_DIGEST_BYTES = 16
_DIGITS = 6


class InHand:
    """The notes of one worker in `folder`; to be closed at the end.

    A message may be started `most_starts` times, and FEWEST_STARTS in any case. `liveness` knows when a worker ends
    because it no longer gets on.
    """

    def __init__(self, folder: Path, most_starts: int, liveness: Liveness) -> None:
        self._folder = folder
        self._most_starts = max(most_starts, FEWEST_STARTS)
        self._liveness = liveness
        self._files: dict[tuple[str, int], FileIO | None] = {}
        self._held: set[tuple[str, int]] = set()
        self._alone = asyncio.Lock()

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            if file is not None:
                file.close()
        self._files.clear()

    @asynccontextmanager
    async def noted(self, topic: str, partition: int, offset: int, message: bytes) -> AsyncIterator[None]:
        """Note that a try, which the body makes, begins; raises DeadlyMessage where workers ended on it too often.

        That note stays, so that the message is not begun again should its dead letter get lost; the partition's next
        message takes its place, and a replay, which has another offset, begins anew.

        A message that a worker ended on is worked on alone among such, so that of all that were in hand then only the
        one at fault takes the next worker down too.
        """
        digest = hashlib.blake2b(b"%d %b" % (offset, message), digest_size=_DIGEST_BYTES).hexdigest()
        with self._note(topic, partition) as (file, note):
            ends = _starts(note, digest)
            if ends >= self._most_starts:
                raise DeadlyMessage(
                    f"The worker ended {ends} times {DEADLY}: it crashed, was killed (most often for want of memory), "
                    "or did not get done. Its log of then says more; mend that before a replay."
                )
            if ends and self._alone.locked():
                log.warning("%s %d:%d waits for another that a worker ended with in hand", topic, partition, offset)
            async with self._alone if ends else nullcontext():
                if ends:
                    log.warning(
                        "a worker ended with %s %d:%d in hand; this is its start %d of %d",
                        topic, partition, offset, ends + 1, self._most_starts,
                    )  # fmt: skip
                _write(file, digest, ends + 1)
                ends_afterwards = ends
                try:
                    yield
                    ends_afterwards = 0
                except asyncio.CancelledError:
                    # One that hangs would never have come to its end.
                    ends_afterwards += self._liveness.gave_up
                    raise
                finally:
                    _write(file, digest, ends_afterwards)

    @contextmanager
    def _note(self, topic: str, partition: int) -> Iterator[tuple[FileIO | None, bytes]]:
        """Hold a partition's note while the body runs, and give what it says; None where the work goes on without it.

        A partition comes to a worker while the one before it, or this one itself, may still have its message in hand.
        """
        place = topic, partition
        file, note = None if place in self._held else self._file(topic, partition), b""
        try:
            if file is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                note = os.pread(file.fileno(), 2 * _DIGEST_BYTES + 1 + _DIGITS, 0)
        except BlockingIOError:
            log.info("a message of %s %d is in hand elsewhere still; a crash on it here is not counted", *place)
            file = None
        except (OSError, ValueError) as error:
            self._go_without(topic, partition, error)
            file = None
        if file is None:
            yield None, b""
            return
        self._held.add(place)
        try:
            yield file, note
        finally:
            self._held.discard(place)
            with suppress(OSError, ValueError):  # it was closed because the worker ends
                fcntl.flock(file, fcntl.LOCK_UN)

    def _file(self, topic: str, partition: int) -> FileIO | None:
        """Return the open file of a partition's note; None where there was none to be had."""
        place = topic, partition
        if place not in self._files:
            try:
                private_folder(self._folder)
                path = self._folder / f"{topic}-{partition}"
                self._files[place] = FileIO(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+")
            except OSError as error:
                self._go_without(topic, partition, error)
        return self._files[place]

    def _go_without(self, topic: str, partition: int, error: Exception) -> None:
        """Go on without a partition's note, and say so."""
        log.warning("crashes on messages of %s %d are not counted: %s", topic, partition, error)
        if file := self._files.get((topic, partition)):
            file.close()
        self._files[topic, partition] = None


def _starts(note: bytes, digest: str) -> int:
    """Return the starts that a note counts, 0 where it is about another message or empty."""
    noted, _, starts = note.decode(errors="replace").partition(" ")
    return int(starts) if noted == digest and starts.isdecimal() else 0


def _write(file: FileIO | None, digest: str, starts: int) -> None:
    if file is None:
        return
    try:
        os.pwrite(file.fileno(), f"{digest} {starts:0{_DIGITS}}\n".encode(), 0)
    except (OSError, ValueError) as error:  # a full disk, or a file that was closed because the worker ends
        log.warning("a crash on the message in hand would not be counted: %s", error)
