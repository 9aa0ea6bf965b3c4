"""What a process answers to whoever asks how it fares: `/healthz`, `/readyz`, and for a worker `/metrics`.

Alive is a process that answers at all. Ready is one whose parts are there; what is away is named. No answer waits for
longer than `PROBE_S` for the ledger, or for one of the broker's addresses.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from typing import Any

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from ledger import Ledger
from stream.broker import reachable

log = logging.getLogger(__name__)

PROBE_S = 2.0


async def alive(request: web.Request) -> web.Response:
    """Answer that the process runs."""
    return web.json_response({"status": "ok"})


def readiness(**complaints: str | None) -> web.Response:
    """Return the answer of a process with these complaints by part, None for a part that is there."""
    away = {part: complaint for part, complaint in complaints.items() if complaint is not None}
    return web.json_response({"ready": not away, "away": away}, status=503 if away else 200)


async def broker_complaint(bootstrap: str) -> str | None:
    """Return why the broker can't be reached; None when one of its addresses accepts connections."""
    return None if await reachable(bootstrap, PROBE_S) else f"nothing answers at {bootstrap}"


def metrics_page() -> web.Response:
    """Return the Prometheus metrics of this process."""
    return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})


class LedgerProbe:
    """A look at the ledger, one at a time: the next probe asks after one that hangs, and begins no other."""

    def __init__(self, ledger: Ledger, within_s: float = PROBE_S) -> None:
        self._ledger = ledger
        self._within_s = within_s
        self._look: asyncio.Task[None] | None = None

    async def complaint(self) -> str | None:
        """Return why the ledger can't be read; None when it can."""
        if self._look is None or self._look.done():
            self._look = asyncio.create_task(self._ledger.ping())
        look = self._look
        await asyncio.wait({look}, timeout=self._within_s)
        if not look.done():
            return f"it did not answer within {self._within_s:g} s"
        error = look.exception()
        if error is None:
            return None
        # Whoever asks has shown no token, and the error may name machines and accounts.
        log.warning("the ledger can't be read: %s", error)
        return "it can't be read; the process's log says why"


class WorkerHealth:
    """What a worker tells of itself; it fills in the parts as it gets them."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self.ledger: LedgerProbe | None = None
        self.assignment: Callable[[], Collection[Any]] | None = None

    def application(self) -> web.Application:
        """Return the application that answers; none of it needs a token."""
        app = web.Application()
        app.router.add_get("/healthz", alive)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        return app

    async def _readyz(self, request: web.Request) -> web.Response:
        if self.ledger is None:
            return readiness(ledger="the worker waits for the ledger or the embedding server, or loads its models")
        ledger, broker = await asyncio.gather(self.ledger.complaint(), broker_complaint(self._bootstrap))
        return readiness(ledger=ledger, broker=broker, partitions=self._partitions_complaint())

    def _partitions_complaint(self) -> str | None:
        if self.assignment is None or not self.assignment():
            return "none is assigned: the worker is joining the others, or they are more than kafka.partitions"
        return None

    async def _metrics(self, request: web.Request) -> web.Response:
        return metrics_page()
