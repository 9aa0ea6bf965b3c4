"""Files and folders that only their owner can read, whatever the umask says."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO


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
    """Open a private file, in a private folder, to write at its end."""
    private_folder(file.parent)
    keep_private(file)
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")
