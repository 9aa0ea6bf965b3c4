"""New, migrated ledgers on SQLite: migrated once per test process, then copied for each test that needs one."""

from __future__ import annotations

import asyncio
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from ledger import Ledger

FILE_NAME = "ledger.db"
KEY = b"a key for tests"


def new_sqlite(folder: Path) -> str:
    """Copy an empty, migrated ledger to where the settings look for it in a data folder, and return its URL."""
    shutil.copy(Path(_migrated().name) / FILE_NAME, folder)
    return _url(folder / FILE_NAME)


@cache
def _migrated() -> TemporaryDirectory[str]:
    folder = TemporaryDirectory(prefix="rejoinder-tests-")
    with ThreadPoolExecutor(1) as thread:  # the requesting test may have an event loop running
        thread.submit(asyncio.run, _migrate(_url(Path(folder.name) / FILE_NAME))).result()
    return folder


async def _migrate(url: str) -> None:
    ledger = await Ledger.open(url, KEY)
    await ledger.migrate()
    await ledger.close()


def _url(file: Path) -> str:
    return f"sqlite+aiosqlite:///{file}"
