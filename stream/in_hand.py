"""Note which messages a worker has in hand, where the note outlives it: a message can take its worker down with it.

Such a message comes again to the next worker, and to the one after that. So a try begins with a note of how often the
message was begun, and the note is taken back when the try is over, whatever came of it. What is still there at the next
start was in hand when a worker ended.

The notes lie in the data folder, one of a fixed size for each partition. They are written in place and never synced: a
file outlives its process without that, and no message waits for the disk.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from io import FileIO
from pathlib import Path

from core.errors import DeadlyMessage
from core.private_files import private_folder
from stream.liveness import Liveness

log = logging.getLogger(__name__)

_DIGEST_BYTES = 16
_DIGITS = 6


class InHand:
    """The notes of one worker in `folder`; workers that share it share them. To be closed at the end.

    A message may be started `most_starts` times. `liveness` knows when a worker ends because it no longer gets on.
    """

    def __init__(self, folder: Path, most_starts: int, liveness: Liveness) -> None:
        self._folder = folder
        self._most_starts = most_starts
        self._liveness = liveness
        self._files: dict[tuple[str, int], FileIO | None] = {}
        self._alone = asyncio.Lock()

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            if file is not None:
                file.close()
        self._files.clear()

    @asynccontextmanager
    async def noted(self, topic: str, partition: int, message: bytes) -> AsyncIterator[None]:
        """Note that a try, which the body makes, begins; raises DeadlyMessage where workers ended on it too often.

        A message that a worker ended on is worked on alone among such, so that of all that were in hand then only the
        one at fault takes the next worker down too.
        """
        file, digest = self._file(topic, partition), hashlib.blake2b(message, digest_size=_DIGEST_BYTES).hexdigest()
        ends = _starts(file, digest)
        if ends >= self._most_starts:
            _write(file, digest, 0)
            raise DeadlyMessage(
                f"The worker ended {ends} times while it had this message in hand: it crashed, was killed (most often "
                "for want of memory), or did not get done. Its log of then says more; mend that before a replay."
            )
        if ends:
            log.warning(
                "a worker ended with a message of %s %d in hand; this is its start %d", topic, partition, ends + 1
            )
        async with self._alone if ends else nullcontext():
            _write(file, digest, ends + 1)
            left = ends
            try:
                yield
                left = 0
            except asyncio.CancelledError:
                # One that hangs would never have come to its end.
                left += self._liveness.gave_up
                raise
            finally:
                _write(file, digest, left)

    def _file(self, topic: str, partition: int) -> FileIO | None:
        """Return the open file of a partition's note; None where it can't be had, and the work goes on without."""
        place = topic, partition
        if place not in self._files:
            try:
                private_folder(self._folder)
                path = self._folder / f"{topic}-{partition}"
                self._files[place] = FileIO(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+")
            except OSError as error:
                log.warning("crashes on messages of %s %d are not counted: %s", topic, partition, error)
                self._files[place] = None
        return self._files[place]


def _starts(file: FileIO | None, digest: str) -> int:
    """Return the starts that a note counts, 0 where it is about another message or there is none."""
    note = b"" if file is None else os.pread(file.fileno(), len(digest) + 1 + _DIGITS, 0)
    noted, _, starts = note.decode(errors="replace").partition(" ")
    return int(starts) if noted == digest and starts.isdecimal() else 0


def _write(file: FileIO | None, digest: str, starts: int) -> None:
    if file is None:
        return
    try:
        os.pwrite(file.fileno(), f"{digest} {starts:0{_DIGITS}}\n".encode(), 0)
    except (OSError, ValueError) as error:  # a full disk, or a file that was closed because the worker ends
        log.warning("a crash on the message in hand would not be counted: %s", error)
