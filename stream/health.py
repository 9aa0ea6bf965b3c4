"""Health endpoints of all processes: `/healthz`, `/readyz`, and for a worker `/metrics`.

A process is alive if it answers at all, and ready if all components it needs are available; the answer names those that
are not. Each probe of the ledger, or of one address of the broker, takes at most `PROBE_S` seconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from typing import Any

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from core.settings import KafkaSettings
from ledger import Ledger
from stream.broker import reachable

log = logging.getLogger(__name__)

PROBE_S = 2.0


async def alive(request: web.Request) -> web.Response:
    """Report that the process is running."""
    return web.json_response({"status": "ok"})


def readiness(**complaints: str | None) -> web.Response:
    """Return the readiness response; `complaints` maps each component to its problem, or to None if it is available."""
    away = {part: complaint for part, complaint in complaints.items() if complaint is not None}
    return web.json_response({"ready": not away, "away": away}, status=503 if away else 200)


async def broker_complaint(kafka: KafkaSettings) -> str | None:
    """Return why the broker can't be reached, or None if one of its addresses accepts connections."""
    return None if await reachable(kafka, PROBE_S) else f"nothing answers at {kafka.bootstrap}"


def metrics_page() -> web.Response:
    """Return the Prometheus metrics of this process."""
    return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})


class LedgerProbe:
    """A probe of the ledger, run at most once at a time: while one hangs, later calls wait for that one."""

    def __init__(self, ledger: Ledger, within_s: float = PROBE_S) -> None:
        self._ledger = ledger
        self._within_s = within_s
        self._look: asyncio.Task[None] | None = None

    async def complaint(self) -> str | None:
        """Return why the ledger can't be read, or None if it can."""
        if self._look is None or self._look.done():
            self._look = asyncio.create_task(self._ledger.ping())
        look = self._look
        await asyncio.wait({look}, timeout=self._within_s)
        if not look.done():
            return f"it did not answer within {self._within_s:g} s"
        error = look.exception()
        if error is None:
            return None
        # The caller is not authenticated, and the error may name machines and accounts.
        log.warning("the ledger can't be read: %s", error)
        return "it can't be read; the process's log says why"


class WorkerHealth:
    """The health endpoints of a worker, which sets `ledger` and `assignment` once it has them."""

    def __init__(self, kafka: KafkaSettings) -> None:
        self._kafka = kafka
        self.ledger: LedgerProbe | None = None
        self.assignment: Callable[[], Collection[Any]] | None = None

    def application(self) -> web.Application:
        """Return the web application; none of its routes needs a token."""
        app = web.Application()
        app.router.add_get("/healthz", alive)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        return app

    async def _readyz(self, request: web.Request) -> web.Response:
        if self.ledger is None:
            return readiness(process="the worker waits for the ledger or the embedding server, or loads its models")
        ledger, broker = await asyncio.gather(self.ledger.complaint(), broker_complaint(self._kafka))
        return readiness(ledger=ledger, broker=broker, partitions=self._partitions_complaint())

    def _partitions_complaint(self) -> str | None:
        if self.assignment is None or not self.assignment():
            return "none is assigned: the worker is joining the others, or they are more than kafka.partitions"
        return None

    async def _metrics(self, request: web.Request) -> web.Response:
        return metrics_page()
