"""Swap whole versions of a knowledge base under running readers.

A knowledge base's folder holds one subfolder a version and the file `current`, which names the one to read. A version
is written under another name, renamed when it is whole, and only then named in `current`; both steps are atomic
(POSIX rename), so a reader sees the old version or the new one. Builders wait for each other.

A version that is no longer current goes with the next swap, but for the last KEPT_VERSIONS: a long build writes one
every few minutes, each nearly as large as the whole. Who has opened a version keeps it: its files are open or mapped,
and on POSIX systems such a file can be read after it was removed. Who has read `current` and is just opening (seconds,
with millions of paragraphs) still needs the names, so none is removed within GRACE_S of the swap that replaced it.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from core.errors import KnowledgeBaseError

POINTER = "current"
LOCK = ".lock"
KEPT_VERSIONS = 3
"""How many versions that are no longer current are kept at most, once GRACE_S is over."""
KEPT_S = 24 * 3600.0
"""How long those are kept, and what a killed build left."""
GRACE_S = 180.0
"""How long every version is kept after its successor came: readers may be opening it."""


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


def stamp(folder: Path) -> tuple[int, int] | None:
    """Return what changes with every new version, cheap to ask for; None when there is none."""
    try:
        at = (folder / POINTER).stat()
    except OSError:
        return None
    return at.st_ino, at.st_mtime_ns


@asynccontextmanager
async def locked(folder: Path) -> AsyncIterator[None]:
    """Keep other builders of this folder waiting, in this process or another, while the block runs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a") as file:
        await asyncio.to_thread(fcntl.flock, file, fcntl.LOCK_EX)
        yield


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
    now = time.time()
    for draft in folder.glob(".unfinished-*"):
        if now - draft.stat().st_mtime > KEPT_S:
            shutil.rmtree(draft, ignore_errors=True)
    older_versions = [(other.stat().st_mtime, other) for other in folder.glob("v-*") if other != version]
    # A version is last touched when it becomes current, and that is when the one before it ceased to be.
    replaced = version.stat().st_mtime
    for place, (began, other) in enumerate(sorted(older_versions, reverse=True)):
        if now - replaced > (KEPT_S if place < KEPT_VERSIONS else GRACE_S):
            shutil.rmtree(other, ignore_errors=True)
        replaced = began
