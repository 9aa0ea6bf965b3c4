"""Background jobs that run beside a process's main work and end it if they fail."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from core.errors import RejoinderError

log = logging.getLogger(__name__)


@asynccontextmanager
async def running(jobs: list[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run jobs beside the body and cancel them when it ends; a failed job is logged and cancels the body.

    The body needs all its jobs, so one that returns or is cancelled before the body ends has failed too. If the failed
    job raised a RejoinderError, that error is raised instead of CancelledError, because its message says what to do.
    """
    tasks = [asyncio.create_task(job) for job in jobs]
    body = asyncio.current_task()
    refusals: list[RejoinderError] = []
    is_over = False

    def ended(task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is None and is_over:
            return
        _log_failure(task, error)
        if isinstance(error, RejoinderError):
            refusals.append(error)
        if body is not None:
            body.cancel()

    for task in tasks:
        task.add_done_callback(ended)
    try:
        yield
    except asyncio.CancelledError:
        if refusals:
            raise refusals[0] from None
        raise
    finally:
        is_over = True
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError, Exception):
                await task


def _log_failure(task: asyncio.Task[None], error: BaseException | None) -> None:
    if error is None:
        name, how = getattr(task.get_coro(), "__qualname__", ""), "was cancelled" if task.cancelled() else "returned"
        log.critical("A background job failed: %s %s, and nothing does its work any more", name, how)
    elif isinstance(error, RejoinderError):
        log.critical("A background job failed: %s", error)
    else:
        log.critical("A background job failed: %r", error, exc_info=error)
