"""Files and folders that only their owner can read, whatever the umask is."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from core.errors import BadSettings

MOST_LOG_BYTES = 10_000_000
"""Size in bytes above which a log file is rotated at the next start."""
_TAIL_BYTES = 64_000


def private_folder(folder: Path) -> None:
    """Create a folder and its missing parents with mode 0700; existing folders keep their mode."""
    for path in (*reversed(folder.parents), folder):
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)


def required_folder(folder: Path) -> None:
    """Create a private folder that the program can't do without. Raises BadSettings if that is impossible."""
    try:
        private_folder(folder)
    except OSError as error:
        raise BadSettings(unusable(folder, error)) from error
    if not folder.is_dir():
        raise BadSettings(f"{folder} is a file, not a folder. Choose another folder with REJOINDER_DATA_DIR.")


def unusable(path: Path, error: OSError) -> str:
    """Return what to tell about a file or folder that can't be used."""
    return f"{path} can't be used ({error.strerror}). Let this user write there, or set REJOINDER_DATA_DIR."


def keep_private(file: Path) -> None:
    """Set a file's mode to 0600, if it exists and we may change it."""
    with suppress(FileNotFoundError, PermissionError):
        file.chmod(0o600)


def open_log(file: Path) -> BinaryIO:
    """Open a private log file for appending, creating its folder; a large one is renamed to `….old` first."""
    private_folder(file.parent)
    keep_private(file)
    with suppress(FileNotFoundError):
        if file.stat().st_size > MOST_LOG_BYTES:
            file.replace(file.with_name(f"{file.name}.old"))
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def end_of_log(file: Path) -> str:
    """Return the last 64 kB of a log file, a few hundred lines; empty if the file does not exist."""
    try:
        with file.open("rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _TAIL_BYTES))
            return log.read(_TAIL_BYTES).decode(errors="replace")
    except FileNotFoundError:
        return ""
