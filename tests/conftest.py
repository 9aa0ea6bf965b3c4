"""What the tests of all rooms share: how they are spread over processes, and the smallest real model."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core.errors import WeightsError
from core.settings import Settings
from models import catalog, weights
from models.cpu import keep_blas_to_one_thread

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

LIVE_FOLDER = "/live/"


def pytest_configure() -> None:
    """Compute as workers do, and leave the other cores to the other test processes.

    OpenMP's threads would spin there while they wait. The programs that tests start are compiled once, whatever the
    shell says: else each start compiles the project again.
    """
    keep_blas_to_one_thread()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from the modules and tests that are collected: they stay to the end.

    It would look at all of them again and again, for a third of the time that a collection takes.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with whole demos and the browser: they take longest, and mostly wait."""
    items.sort(key=lambda item: LIVE_FOLDER not in item.nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Keep the tests of a file in one process, and all that start a demo or a browser in the same one."""
    from xdist.scheduler import LoadFileScheduling

    class OneDemoAtATime(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return LIVE_FOLDER if LIVE_FOLDER in nodeid else str(super()._split_scope(nodeid))

    return OneDemoAtATime(config, log)


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """Give the weights of the smallest catalog model, fetched once for all runs; skip where they can't be had."""
    entry, folder = catalog.find("smollm2-135m"), Settings().weights_dir
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".tests.lock").open("w") as lock:  # a second process waits instead of being refused
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            pulling = weights.pull(entry, folder, "auto", lambda done, total: None)
            with ThreadPoolExecutor(1) as thread:  # away from the loop of the test that asks for it
                return thread.submit(asyncio.run, pulling).result()
        except WeightsError as error:
            pytest.skip(f"the weights of smollm2-135m can't be fetched: {error}")
