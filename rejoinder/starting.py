"""How a process starts: it waits for its ledger and says so to whoever asks; a worker then runs its stages."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress

from aiohttp import web

from core.errors import LedgerUnavailable
from core.retry import Backoff, Retry
from core.settings import Settings
from rejoinder.assembly import build_stages, open_ledger, open_pipeline
from rejoinder.web import serving
from stream.dead_letters import DeadLetterWriter
from stream.gateway import RETRY_AFTER_S
from stream.health import LedgerProbe, WorkerHealth, alive
from stream.producer import Producer
from stream.signing import Signatures
from stream.topics import Topics

log = logging.getLogger(__name__)

ALL_ADDRESSES = "0.0.0.0"  # noqa: S104  # as docs/settings.md says of stream.metrics_port
LEDGER_WAITS = Backoff(first_s=1.0, longest_s=15.0)
EX_SOFTWARE = 70
"""The exit code of a worker that died (sysexits.h)."""
END_S = 30.0
"""How long such a worker may take to close its parts."""


async def ledger_ready(settings: Settings, stop: asyncio.Event, waits: Backoff = LEDGER_WAITS) -> bool:
    """Wait, however long, until the ledger answers, and bring its tables to this version; False if `stop` is set first.

    Raises BadSettings where a newer Rejoinder made it, or where the settings name no ledger that could be.
    """
    retry = Retry(waits)
    while not stop.is_set():
        try:
            async with open_ledger(settings, migrating=True):
                return True
        except LedgerUnavailable as error:
            log.warning("waiting for the ledger: %s", error)
        with suppress(TimeoutError):
            async with asyncio.timeout(retry.next_wait_s()):
                await stop.wait()
    return False


@asynccontextmanager
async def waiting_room(host: str, port: int) -> AsyncIterator[None]:
    """Answer there while a process that starts still waits for its ledger: it lives, and can do nothing yet."""
    if port == 0:  # nobody knows the way yet
        yield
        return

    async def refuse(request: web.Request) -> web.Response:
        reason = "it is not there yet, or its tables are being migrated; the process's log says which"
        body = {"error": "unavailable", "message": f"The ledger: {reason}.", "ready": False, "away": {"ledger": reason}}
        return web.json_response(body, status=503, headers={"Retry-After": str(RETRY_AFTER_S)})

    app = web.Application()
    app.router.add_get("/healthz", alive)
    app.router.add_route("*", "/{path:.*}", refuse)
    async with serving(app, host, port):
        yield


async def work(settings: Settings, names: Collection[str], stop: asyncio.Event) -> None:
    """Run a worker with the named stages until `stop`; raises WorkerDied or RejoinderError.

    A worker that died ends, whatever hangs in it.
    """
    from stream.worker import WorkerDied, run_worker

    async with _served_health(settings) as health:
        if not await ledger_ready(settings, stop):
            return
        async with (
            open_ledger(settings) as ledger,
            Producer(settings.kafka, Signatures.of(settings)) as producer,
            open_pipeline(settings, names, settings.data_dir / "logs" / "chat-server.log") as pipeline,
        ):
            health.ledger = LedgerProbe(ledger)
            dead_letters = DeadLetterWriter(producer, Topics(settings.kafka.prefix), ledger)
            try:
                await run_worker(settings, build_stages(settings, ledger, pipeline, names), dead_letters, stop, health)
            except WorkerDied as error:
                log.error("%s Exiting so that the supervisor starts a fresh worker.", error)
                _end_in_any_case(END_S)
                raise


def _end_in_any_case(within_s: float) -> None:
    """End this process after a while, should it not have ended by then: Python waits for ever for a thread that hangs.

    Programs that it started end with it (`core.tether`).
    """

    def end() -> None:
        log.error("the worker did not end by itself within %.0f s; something in it hangs", within_s)
        os._exit(EX_SOFTWARE)

    timer = threading.Timer(within_s, end)
    timer.daemon = True
    timer.start()


@asynccontextmanager
async def _served_health(settings: Settings) -> AsyncIterator[WorkerHealth]:
    """Give what a worker tells of itself, served where the settings name a port; raises BadSettings for one taken."""
    health = WorkerHealth(settings.kafka.bootstrap)
    if not settings.stream.metrics_port:
        yield health
        return
    async with serving(health.application(), ALL_ADDRESSES, settings.stream.metrics_port):
        yield health
