"""Swap whole versions of a knowledge base under running readers.

The folder of a knowledge base holds one subfolder per version and the file `current`, which names the one to read. A
version is written under another name, renamed when it is complete, and only then named in `current`. Both steps are
atomic (POSIX rename), so a reader sees either the old version or the new one. Builders wait for each other.

A version that is no longer current is removed at the next swap, except for the last KEPT_VERSIONS: a long build writes
one every few minutes, each nearly as large as the whole. A reader that has opened a version keeps it, since its files
are open or mapped, and POSIX systems let such files be read after they are removed. A reader that has read `current`
and is still opening the version (seconds, with millions of paragraphs) needs the names. Therefore no version is removed
within GRACE_S of the swap that replaced it.
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

BUILD_FIRST = "Build it first: `rejoinder kb build`."
BUILD_AGAIN = "Build the knowledge base again: `rejoinder kb build`."
POINTER = "current"
LOCK = ".lock"
KEPT_VERSIONS = 3
"""Most versions that are kept, once GRACE_S is over, after they ceased to be current."""
KEPT_S = 24 * 3600.0
"""How long these are kept, and the remains of a killed build."""
GRACE_S = 180.0
"""How long every version is kept after it was replaced, as readers may still be opening it."""


def current(folder: Path) -> Path:
    """Return the folder of the version to read; raises KnowledgeBaseError if there is none."""
    try:
        name = (folder / POINTER).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise KnowledgeBaseError(f"There is no knowledge base in {folder}. {BUILD_FIRST}") from error
    version = folder / name
    if not name or Path(name).name != name or not version.is_dir():
        raise KnowledgeBaseError(f"{folder / POINTER} names no version that is there. {BUILD_AGAIN}")
    return version


def stamp(folder: Path) -> tuple[int, int] | None:
    """Return a value that changes with every new version and is cheap to get; None if there is no version."""
    try:
        at = (folder / POINTER).stat()
    except OSError:
        return None
    return at.st_ino, at.st_mtime_ns


@asynccontextmanager
async def locked(folder: Path) -> AsyncIterator[None]:
    """Make other builders of this folder, in this process or another, wait while the block runs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("a") as file:
        await asyncio.to_thread(fcntl.flock, file, fcntl.LOCK_EX)
        yield


@contextmanager
def new_version(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to fill; it becomes the current version when the block ends, or is removed on an error."""
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
    # A version's last modification is when it became current, and so when the one before was replaced.
    replaced = version.stat().st_mtime
    for place, (began, other) in enumerate(sorted(older_versions, reverse=True)):
        if now - replaced > (KEPT_S if place < KEPT_VERSIONS else GRACE_S):
            shutil.rmtree(other, ignore_errors=True)
        replaced = began
