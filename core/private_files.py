"""Files and folders that only their owner can read, whatever the umask says."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

MOST_LOG_BYTES = 10_000_000
"""Size from which the next start of a program begins a new log file."""
_TAIL_BYTES = 64_000


def private_folder(folder: Path) -> None:
    """Make a folder, and what is missing above it, with mode 0700; one that is there keeps its mode."""
    for path in (*reversed(folder.parents), folder):
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)


def keep_private(file: Path) -> None:
    """Give a file the mode 0600, if it is there and ours."""
    with suppress(FileNotFoundError, PermissionError):
        file.chmod(0o600)


def open_log(file: Path) -> BinaryIO:
    """Open a private file, in a private folder, to write at its end; one that is large becomes `….old` first."""
    private_folder(file.parent)
    keep_private(file)
    with suppress(FileNotFoundError):
        if file.stat().st_size > MOST_LOG_BYTES:
            file.replace(file.with_name(f"{file.name}.old"))
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def end_of_log(file: Path) -> str:
    """Return what a log file ends with, a few hundred lines of it at most; nothing where there is none."""
    try:
        with file.open("rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _TAIL_BYTES))
            return log.read(_TAIL_BYTES).decode(errors="replace")
    except FileNotFoundError:
        return ""
