"""Configuration that the tests of all rooms share: how they are spread over processes, and the smallest real model."""

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
    """Limit numerical libraries to one thread per process, and let Python cache bytecode.

    One thread is what workers use; OpenMP's waiting threads would take cores from the other test processes. Without
    cached bytecode, each program that a test starts would compile the project again, so the shell's
    PYTHONDONTWRITEBYTECODE is overridden.
    """
    keep_blas_to_one_thread()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Whoever has fetched the larger model gets the same results, and doesn't load it for every demo.
    os.environ.setdefault("REJOINDER_TRIAGE__REREAD", "false")
    os.environ.setdefault("REJOINDER_GUARD__REREAD", "false")
    sys.dont_write_bytecode = False


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt the collected modules and tests from garbage collection, as they live until the end.

    Scanning them again and again would take a third of the time of pytest's collection.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run whole demos and the browser first: they take longest, and mostly wait."""
    items.sort(key=lambda item: LIVE_FOLDER not in item.nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Keep the tests of a file in one process; those that start demos share one process, those of the page another."""
    from xdist.scheduler import LoadFileScheduling

    class OneDemoAtATime(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            room, live, _ = nodeid.partition(LIVE_FOLDER)
            return room + live if live else str(super()._split_scope(nodeid))

    return OneDemoAtATime(config, log)


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """Return the weights of the smallest catalog model, fetched once for all runs; skips the test if they can't be."""
    entry, folder = catalog.find("smollm2-135m"), Settings().weights_dir
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".tests.lock").open("w") as lock:  # a second process waits instead of being refused
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            pulling = weights.pull(entry, folder, "auto", lambda done, total: None)
            with ThreadPoolExecutor(1) as thread:  # the requesting test may have an event loop running
                return thread.submit(asyncio.run, pulling).result()
        except WeightsError as error:
            pytest.skip(f"the weights of smollm2-135m can't be fetched: {error}")
