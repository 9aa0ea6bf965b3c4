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

    If the failed job raised a RejoinderError, that error is raised instead of CancelledError, because its message says
    what to do.
    """
    tasks = [asyncio.create_task(job) for job in jobs]
    body = asyncio.current_task()
    refusals: list[RejoinderError] = []

    def failed(task: asyncio.Task[None]) -> None:
        if task.cancelled() or (error := task.exception()) is None:
            return
        if isinstance(error, RejoinderError):
            log.critical("A background job failed: %s", error)
            refusals.append(error)
        else:
            log.critical("A background job failed: %r", error, exc_info=error)
        if body is not None:
            body.cancel()

    for task in tasks:
        task.add_done_callback(failed)
    try:
        yield
    except asyncio.CancelledError:
        if refusals:
            raise refusals[0] from None
        raise
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError, Exception):
                await task
