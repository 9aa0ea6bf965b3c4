"""Notes of the messages that a worker is processing, kept in files so that they outlive it.

A message can take its worker down, and would then be delivered to one worker after another. So each try begins by
noting how often the message has been started, and clears the note when it is over, whatever the result. A note found at
the next start names a message that was being processed when a worker ended.

The notes are in the data folder: one file of fixed size per partition, written in place and never synced, so that no
message waits for the disk; a file outlives its process without that. While a worker processes a message, it holds a
lock on the note, and the lock ends with the worker. So a note that can be locked belongs to a worker that is done or
gone, even if workers share the folder and partitions move between them.
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
"""Starts that every message gets: most of those in progress during a crash did not cause it."""
DEADLY = "while it had this message in hand"
"""A phrase in the error of every DeadlyMessage, by which its case is recognised."""

_DIGEST_BYTES = 16
_DIGITS = 6


class InHand:
    """The notes of one worker in `folder`; close it at the end.

    A message may be started `most_starts` times, but at least FEWEST_STARTS times. `liveness` tells whether the worker
    is being ended because it hangs.
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
        """Note the start of a try, which is the body. Raises DeadlyMessage if workers ended on the message too often.

        A DeadlyMessage keeps its note, so that it is not started again if its dead letter gets lost. The next message
        of the partition overwrites the note, and a replayed message starts afresh because its offset differs.

        Messages that were in progress when a worker ended are processed one at a time, so that only the one at fault
        takes the next worker down.
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
                    # If the worker is ended for hanging, the try counts like a crash: it would never have finished.
                    ends_afterwards += self._liveness.gave_up
                    raise
                finally:
                    _write(file, digest, ends_afterwards)

    @contextmanager
    def _note(self, topic: str, partition: int) -> Iterator[tuple[FileIO | None, bytes]]:
        """Lock a partition's note during the body; yield its file, None if there is no usable note, and its content.

        A partition can be assigned to this worker while its previous owner, or this worker itself, is still processing
        its message.
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
            with suppress(OSError, ValueError):  # closed because the worker is ending
                fcntl.flock(file, fcntl.LOCK_UN)

    def _file(self, topic: str, partition: int) -> FileIO | None:
        """Return the open file of a partition's note, or None if it could not be opened."""
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
        """Stop using a partition's note and log the reason."""
        log.warning("crashes on messages of %s %d are not counted: %s", topic, partition, error)
        if file := self._files.get((topic, partition)):
            file.close()
        self._files[topic, partition] = None


def _starts(note: bytes, digest: str) -> int:
    """Return the number of starts in a note; 0 if it is empty or about another message."""
    noted, _, starts = note.decode(errors="replace").partition(" ")
    return int(starts) if noted == digest and starts.isdecimal() else 0


def _write(file: FileIO | None, digest: str, starts: int) -> None:
    if file is None:
        return
    try:
        os.pwrite(file.fileno(), f"{digest} {starts:0{_DIGITS}}\n".encode(), 0)
    except (OSError, ValueError) as error:  # a full disk, or a file closed because the worker is ending
        log.warning("a crash on the message in hand would not be counted: %s", error)
