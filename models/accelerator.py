"""The devices that the chat engine computes on, and how many layers of the running model are on a GPU."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from core.domain import Record
from core.environment import MODELS, child_environment
from core.settings import ChatSettings
from models.engine_arguments import script

LOOK_S = 30.0
"""Seconds that an engine may take to list its devices; starting a GPU's driver takes some of them."""
_OFFLOADED = re.compile(r"offloaded (\d+)/(\d+) layers to GPU")
_LISTED = re.compile(r"^\s+(\w+): (.+) \((\d+) MiB, (\d+) MiB free\)$", re.MULTILINE)
_MIB = 1 << 20


class Device(Record):
    """One device that an engine can compute on, with its memory in bytes."""

    name: str
    description: str
    kind: str
    free: int
    total: int

    @property
    def summary(self) -> str:
        """Return name and memory on one line."""
        return f"{self.name} ({self.description.strip()}, {self.free / 1e9:.1f} of {self.total / 1e9:.1f} GB free)"


async def devices(settings: ChatSettings) -> list[Device] | None:
    """Return the engine's devices; None if it can't list them, like llama-cpp-python, or can't start.

    A separate process is asked, as a driver that does not fit the engine may crash it.
    """
    if settings.engine == "xllamacpp":
        listed = await _output([*script(), "--devices"])
        try:
            return TypeAdapter(list[Device]).validate_json(listed or "")
        except ValidationError:
            return None
    if settings.engine == "llama-server":
        listed = await _output([settings.binary, "--list-devices"])
        return None if listed is None else _listed(listed)
    return None


def offloaded(log_file: Path) -> tuple[int, int] | None:
    """Return how many of how many layers the server put on a GPU at its last start; None if its log does not say."""
    try:
        starts = _OFFLOADED.findall(log_file.read_text(errors="replace"))
    except OSError:
        return None
    return (int(starts[-1][0]), int(starts[-1][1])) if starts else None


async def _output(argv: list[str]) -> str | None:
    """Return what a program prints; None if it fails, is missing or takes too long."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            env=child_environment(*MODELS),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return None
    try:
        async with asyncio.timeout(LOOK_S):
            printed, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return None
    return printed.decode(errors="replace") if process.returncode == 0 else None


def _listed(printed: str) -> list[Device]:
    """Parse the output of `llama-server --list-devices`, which leaves processors out."""
    return [
        Device(name=name, description=what, kind="gpu", free=int(free) * _MIB, total=int(total) * _MIB)
        for name, what, total, free in _LISTED.findall(printed)
    ]
