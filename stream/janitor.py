"""Erase and prune what is older than the operator wants to keep it; say what was done, in counts."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.errors import CaseNotFound, LedgerUnavailable, NotAllowed
from core.retry import SYSTEM_CLOCK, Clock
from core.settings import Settings
from ledger import Ledger

log = logging.getLogger(__name__)

EVERY_S = 3600.0
BATCH = 100
WHO = "retention"
"""Who the history names for what the janitor erases."""


@dataclass(frozen=True)
class Tidied:
    """What one round did, in counts; `waiting` cases could not be pruned yet, most because a chat still shows them."""

    erased: int = 0
    pruned: int = 0
    waiting: int = 0
    messages: int = 0
    uncoverings: int = 0
    log_files: int = 0


class Janitor:
    """The round that keeps retention periods. Several may run, in several processes."""

    def __init__(self, ledger: Ledger, settings: Settings, clock: Clock = SYSTEM_CLOCK) -> None:
        self._erasure = ledger.erasure
        self._periods = settings.retention
        self._logs = settings.data_dir / "logs"
        self._clock = clock

    async def run(self) -> None:
        """Go the round every hour until cancelled; a ledger that is away, or a full disk, is waited for."""
        while True:
            try:
                await self.tidy(await self._erasure.now())
            except (LedgerUnavailable, OSError) as error:
                log.warning("the janitor waits: %s", error)
            await self._clock.sleep(EVERY_S)

    async def tidy(self, moment: datetime) -> Tidied:
        """Erase and prune what is too old at a moment; raises LedgerUnavailable, or OSError for the log files."""
        periods, erased, pruned, waiting, messages, uncoverings, files = self._periods, 0, 0, 0, 0, 0, 0
        texts_days = periods.posts_days or periods.cases_days
        if texts_days is not None:
            erased, _ = await self._each(self._erasure.due, _before(moment, texts_days), self._erase)
        if periods.cases_days is not None:
            before = _before(moment, periods.cases_days)
            pruned, waiting = await self._each(self._erasure.prunable, before, self._erasure.prune)
        if periods.logs_days is not None:
            before = _before(moment, periods.logs_days)
            messages, uncoverings = await self._erasure.forget_logs(before)
            files = await asyncio.to_thread(turn_logs, self._logs, moment, before)
        tidied = Tidied(erased, pruned, waiting, messages, uncoverings, files)
        if any(astuple(tidied)):
            await self._erasure.overwrite()
            log.info(
                "retention: texts of %d cases erased, %d cases pruned, %d wait for a chat or a message; deleted: %d "
                "sent messages, %d records of uncovered posts, %d log files", *astuple(tidied),
            )  # fmt: skip
        return tidied

    async def _each(
        self, find: Callable[[datetime, int, int], Awaitable[list[str]]], before: datetime,
        do: Callable[[str], Awaitable[bool]],
    ) -> tuple[int, int]:  # fmt: skip
        """Do something to every case that is due; return for how many it was done, and for how many not yet.

        A case that another process's janitor has pruned meanwhile counts as neither: `find` no longer lists it.
        """
        processed = postponed = 0
        gone: set[str] = set()
        while keys := await find(before, BATCH, postponed):
            for key in keys:
                try:
                    done = await do(key)
                except CaseNotFound:
                    postponed += key in gone  # Listed again all the same: go on after it.
                    gone.add(key)
                    continue
                processed += done
                postponed += not done
        return processed, postponed

    async def _erase(self, key: str) -> bool:
        try:
            await self._erasure.erase(key, WHO, "erased: older than retention.posts_days")
        except NotAllowed as error:
            log.info("%s", error)
            return False
        return True


def turn_logs(folder: Path, moment: datetime, before: datetime) -> int:
    """Begin each day with empty log files, and delete those of days before `before`; return how many were deleted.

    The processes keep their files open, so the day's lines are copied and the file is emptied in its place.
    """
    for file in folder.glob("*.log"):
        begun = file.with_name(f"{file.name}.{moment:%Y-%m-%d}")
        if file.stat().st_size and not begun.exists():
            shutil.copyfile(file, begun)
            begun.chmod(0o600)
            file.write_bytes(b"")
    old = [file for file in folder.glob("*.log.*") if _last_day(file) < f"{before:%Y-%m-%d}"]
    for file in old:
        file.unlink(missing_ok=True)
    return len(old)


def _last_day(file: Path) -> str:
    """Return the day of a log's last line: that in its name, or of a log that was put away for its size, its own."""
    if file.suffix == ".old":
        return f"{datetime.fromtimestamp(file.stat().st_mtime, UTC):%Y-%m-%d}"
    return file.name[-10:]


def _before(moment: datetime, days: int) -> datetime:
    return moment - timedelta(days=days)
