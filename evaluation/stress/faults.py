"""Kills, pauses and outages, spread over the time in which flags are sent."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.stress.family import Family
from evaluation.stress.plan import StressPlan
from evaluation.stress.proxy import Outage, Wire

OUTAGES: tuple[Outage, ...] = ("cut", "stall")


@dataclass
class Faults:
    """A log of the faults caused, in order: seconds since the start, and a description."""

    struck: list[tuple[float, str]] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def note(self, what: str) -> None:
        """Add a fault to the log."""
        self.struck.append((round(time.monotonic() - self.began, 1), what))


class Striker:
    """The cause of a plan's faults in a family; it logs each one."""

    def __init__(self, plan: StressPlan, family: Family, faults: Faults) -> None:
        self._plan = plan
        self._family = family
        self._faults = faults
        self._chance = random.Random(plan.seed)

    async def strike(self) -> None:
        """Cause every fault at its time. Each kind is evenly spread; faults of different kinds may overlap."""
        plan = self._plan
        await asyncio.gather(
            self._spread(plan.kills, 0.5, self._kill),
            self._spread(plan.pauses, 0.8, self._pause),
            self._spread(plan.broker_outages, 0.3, self._take_broker_away),
            self._spread(plan.database_outages, 0.7, self._take_database_away),
            self._spread(plan.model_kills, 0.4, self._kill_model),
            self._spread(plan.disk_fills, 0.6, self._fill_disk),
        )

    async def _spread(self, count: int, place: float, fault: Callable[[int], Awaitable[None]]) -> None:
        """Cause a fault in each of `count` equal parts of the flagging time, at `place` (0 to 1) within the part."""
        began = time.monotonic()
        for number in range(count):
            due = began + self._plan.flagging_s * (number + place) / count
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await fault(number)

    async def _kill(self, number: int) -> None:
        family = self._family
        kinds = (family.workers, family.desks, family.workers, [family.gateway])
        member = self._chance.choice(kinds[number % len(kinds)])
        self._faults.note(f"kill {member.name}")
        member.signal(signal.SIGKILL)

    async def _pause(self, number: int) -> None:
        member = self._chance.choice((self._family.desks, self._family.workers)[number % 2])
        self._faults.note(f"pause {member.name} for {self._plan.pause_s:.0f} s")
        # If the process is killed meanwhile, its successor was never paused.
        paused = member.child
        member.signal(signal.SIGSTOP)
        try:
            await asyncio.sleep(self._plan.pause_s)
        finally:
            if member.child is paused:
                member.signal(signal.SIGCONT)

    async def _kill_model(self, number: int) -> None:
        model = self._family.model
        if model is not None and model.pid is not None:
            self._faults.note("kill the model's server")
            os.kill(model.pid, signal.SIGKILL)

    async def _fill_disk(self, number: int) -> None:
        folder, seconds = self._family.settings.data_dir, self._plan.outage_s
        self._faults.note(f"fill the disk for {seconds:.0f} s")
        ballast = folder / "ballast"
        try:
            await asyncio.to_thread(_fill, ballast)
            await asyncio.sleep(seconds)
        finally:
            ballast.unlink()

    async def _take_broker_away(self, number: int) -> None:
        wire = self._family.broker_wire
        if wire is not None:
            await self._fail(wire, "broker", number)

    async def _take_database_away(self, number: int) -> None:
        wire, seconds = self._family.database_wire, self._plan.outage_s
        if wire is not None:
            await self._fail(wire, "database", number)
        else:
            self._faults.note(f"lock the database for {seconds:.0f} s")
            await asyncio.to_thread(_lock, self._family.settings.data_dir / "ledger.db", seconds)

    async def _fail(self, wire: Wire, what: str, number: int) -> None:
        how = OUTAGES[number % len(OUTAGES)]
        self._faults.note(f"{how} the {what} for {self._plan.outage_s:.0f} s")
        await wire.fail_for(self._plan.outage_s, how)


def _fill(ballast: Path) -> None:
    """Write until the disk is full."""
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            with suppress(OSError):
                while file.write(bytes(size)):
                    pass


def _lock(file: Path, seconds: float) -> None:
    """Lock a SQLite file against writers; if that lasts longer than they wait, they see an outage."""
    connection = sqlite3.connect(file, timeout=60, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        connection.execute("ROLLBACK")
    finally:
        connection.close()
