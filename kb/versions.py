"""Swap whole versions of a knowledge base under running readers.

A knowledge base's folder holds one subfolder a version and the file `current`, which names the one to read. A version
is written under another name, renamed when it is whole, and only then named in `current`; both steps are atomic
(POSIX rename), so a reader sees the old version or the new one, and of two builders the later wins.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rejoinder.errors import KnowledgeBaseError

POINTER = "current"
KEPT_S = 24 * 3600.0
"""How long a version that is no longer current is kept: readers that are opening it need it a moment longer."""


def current(folder: Path) -> Path:
    """Return the folder of the version to read; raises KnowledgeBaseError when there is none."""
    try:
        name = (folder / POINTER).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise KnowledgeBaseError(f"There is no knowledge base in {folder}. Build it first.") from error
    version = folder / name
    if not name or Path(name).name != name or not version.is_dir():
        raise KnowledgeBaseError(f"{folder / POINTER} names no version that is there. Build the knowledge base again.")
    return version


@contextmanager
def new_version(folder: Path) -> Iterator[Path]:
    """Give an empty folder to fill; when the block ends well it becomes the current version, else it is removed."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=folder))
    try:
        yield draft
        version = draft.with_name(draft.name.replace(".unfinished-", "v-"))
        draft.replace(version)
        pointer = version / f".{POINTER}"
        pointer.write_text(version.name, encoding="utf-8")
        os.replace(pointer, folder / POINTER)  # noqa: PTH105
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    _remove_stale(folder, version)


def _remove_stale(folder: Path, version: Path) -> None:
    for other in folder.iterdir():
        stale = other.name.startswith(("v-", ".unfinished-")) and time.time() - other.stat().st_mtime > KEPT_S
        if stale and other != version:
            shutil.rmtree(other, ignore_errors=True)
