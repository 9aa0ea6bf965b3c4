"""The janitor: erase and delete what has outlived the operator's retention periods, and log the counts."""

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
"""The name under which the history records the janitor's erasures."""


@dataclass(frozen=True)
class Tidied:
    """The counts of one round; `waiting` cases could not be pruned yet, most because a chat still shows them."""

    erased: int = 0
    pruned: int = 0
    waiting: int = 0
    messages: int = 0
    uncoverings: int = 0
    log_files: int = 0


class Janitor:
    """The task that enforces the retention periods. Several may run, in several processes."""

    def __init__(self, ledger: Ledger, settings: Settings, clock: Clock = SYSTEM_CLOCK) -> None:
        self._erasure = ledger.erasure
        self._periods = settings.retention
        self._topics_days = settings.kafka.topics_days
        self._logs = settings.data_dir / "logs"
        self._clock = clock

    async def run(self) -> None:
        """Tidy every hour until cancelled, waiting out an unavailable ledger or a full disk."""
        if self._periods.cases_days is not None and self._periods.cases_days <= self._topics_days:
            log.warning(
                "cases are removed after %d days (retention.cases_days), but topics keep flags for %d "
                "(kafka.topics_days): a topic that is read again would bring them back. Keep cases longer than that",
                self._periods.cases_days, self._topics_days,
            )  # fmt: skip
        while True:
            try:
                await self.tidy(await self._erasure.now())
            except (LedgerUnavailable, OSError) as error:
                log.warning("the janitor waits: %s", error)
            await self._clock.sleep(EVERY_S)

    async def tidy(self, moment: datetime) -> Tidied:
        """Erase and prune what is too old at `moment`. Raises LedgerUnavailable, or OSError for the log files."""
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
        """Apply `do` to every due case; return how many were processed and how many postponed.

        A case that another process's janitor has pruned meanwhile counts as neither, because `find` no longer lists it.
        """
        processed = postponed = 0
        gone: set[str] = set()
        while keys := await find(before, BATCH, postponed):
            for key in keys:
                try:
                    done = await do(key)
                except CaseNotFound:
                    postponed += key in gone  # Still listed, so skip it in the next search.
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
    """Start each day with empty log files and delete those from before `before`; return how many were deleted.

    Processes keep their log files open, so the content is copied and the file is emptied in place.
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
    """Return the day of a log's last line: from its name, or for a log rotated by size, from its modification time."""
    if file.suffix == ".old":
        return f"{datetime.fromtimestamp(file.stat().st_mtime, UTC):%Y-%m-%d}"
    return file.name[-10:]


def _before(moment: datetime, days: int) -> datetime:
    return moment - timedelta(days=days)
