"""The start of a process: it waits for what it needs, reports that over HTTP, and a worker then runs its stages."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import TypeVar

from aiohttp import web

from core.errors import EmbedderUnavailable, LedgerUnavailable, Unavailable
from core.retry import Backoff, Retry
from core.settings import Settings
from ledger import Ledger
from rejoinder.assembly import Pipeline, build_stages, open_ledger, open_pipeline
from rejoinder.web import serving
from stream.dead_letters import DeadLetterWriter
from stream.gateway import RETRY_AFTER_S
from stream.health import LedgerProbe, WorkerHealth, alive
from stream.producer import Producer
from stream.signing import Signatures
from stream.topics import Topics

log = logging.getLogger(__name__)

T = TypeVar("T")

ALL_ADDRESSES = "0.0.0.0"  # noqa: S104  # as docs/settings.md says of stream.metrics_port
WAITS = Backoff(first_s=1.0, longest_s=15.0)
EX_SOFTWARE = 70
"""Exit code of a worker that died (sysexits.h)."""
END_S = 30.0
"""Seconds that a worker that died has to close its parts."""


@asynccontextmanager
async def open_when_there(
    part: str,
    away: type[Unavailable],
    opening: Callable[[], AbstractAsyncContextManager[T]],
    stop: asyncio.Event,
    waits: Backoff = WAITS,
) -> AsyncIterator[T | None]:
    """Yield a part, opened as soon as it is available, however long that takes; None if `stop` is set first.

    `away` is the error of `opening` that means that the part is unavailable.
    """
    retry, opened = Retry(waits), None
    async with AsyncExitStack() as stack:
        while not stop.is_set():
            try:
                opened = await stack.enter_async_context(opening())
                break
            except away as error:
                log.warning("waiting for %s: %s", part, error)
                with suppress(TimeoutError):
                    async with asyncio.timeout(retry.next_wait_s()):
                        await stop.wait()
        yield opened


def wait_for_ledger(
    settings: Settings, stop: asyncio.Event, waits: Backoff = WAITS
) -> AbstractAsyncContextManager[Ledger | None]:
    """Yield the ledger, migrated to this version, once it answers; None if `stop` is set first.

    Raises BadSettings if a newer Rejoinder created it, or if its settings are invalid.
    """
    return open_when_there("the ledger", LedgerUnavailable, lambda: open_ledger(settings, migrating=True), stop, waits)


@asynccontextmanager
async def answer_while_starting(host: str, port: int) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Answer HTTP requests while a process starts: `/healthz` reports that it is alive, all else gets 503.

    Yields a function that frees the address for the actual service.
    """

    async def refuse(request: web.Request) -> web.Response:
        reason = "it waits for the ledger, migrates it, or loads what it needs; its log says which"
        message = f"The process is still starting: {reason}. Ask again in {RETRY_AFTER_S} s."
        body = {"error": "unavailable", "message": message, "ready": False, "away": {"process": reason}}
        return web.json_response(body, status=503, headers={"Retry-After": str(RETRY_AFTER_S)})

    app = web.Application()
    app.router.add_get("/healthz", alive)
    app.router.add_route("*", "/{path:.*}", refuse)
    async with AsyncExitStack() as room:
        if port != 0:  # with a random port, nobody knows the address yet
            await room.enter_async_context(serving(app, host, port))
        yield room.aclose


async def run_stages(settings: Settings, names: Collection[str], stop: asyncio.Event) -> None:
    """Run a worker with the named stages until `stop` is set. Raises WorkerDied or RejoinderError.

    After WorkerDied the process ends within END_S, even if something in it hangs.
    """
    from stream.worker import WorkerDied, run_worker

    async with _served_health(settings) as health, AsyncExitStack() as stack:
        ledger = await stack.enter_async_context(wait_for_ledger(settings, stop))
        if ledger is None:
            return
        producer = await stack.enter_async_context(Producer(settings.kafka, Signatures.of(settings)))
        pipeline = await stack.enter_async_context(_wait_for_pipeline(settings, names, stop))
        if pipeline is None:
            return
        health.ledger = LedgerProbe(ledger)
        dead_letters = DeadLetterWriter(producer, Topics(settings.kafka.prefix), ledger)
        try:
            await run_worker(settings, build_stages(settings, ledger, pipeline, names), dead_letters, stop, health)
        except WorkerDied as error:
            log.error("%s Exiting so that the supervisor starts a fresh worker.", error)
            _end_in_any_case(END_S)
            raise


def _wait_for_pipeline(
    settings: Settings, names: Collection[str], stop: asyncio.Event
) -> AbstractAsyncContextManager[Pipeline | None]:
    log_file = settings.data_dir / "logs" / "chat-server.log"
    return open_when_there(
        "the embedding server", EmbedderUnavailable, lambda: open_pipeline(settings, names, log_file), stop
    )


def _end_in_any_case(within_s: float) -> None:
    """End this process after `within_s` unless it has ended by then: Python waits for ever for a hanging thread.

    The programs that it started end with it (`core.tether`).
    """

    def end() -> None:
        log.error("the worker did not end by itself within %.0f s; something in it hangs", within_s)
        os._exit(EX_SOFTWARE)

    timer = threading.Timer(within_s, end)
    timer.daemon = True
    timer.start()


@asynccontextmanager
async def _served_health(settings: Settings) -> AsyncIterator[WorkerHealth]:
    """Yield a worker's health, served on the configured port, if any. Raises BadSettings if the port is taken."""
    health = WorkerHealth(settings.kafka)
    if not settings.stream.metrics_port:
        yield health
        return
    async with serving(health.application(), ALL_ADDRESSES, settings.stream.metrics_port):
        yield health
