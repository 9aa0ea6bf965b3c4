"""Run gateway and desk in one aiohttp process, together with their background jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from bot.auth import Auth
from bot.changes import Changes
from bot.connections import IDLE_S, behind_proxies, hurried_bodies
from bot.desk import Desk
from bot.surroundings import Surroundings
from bot.web.application import add_desk
from core.background import running
from core.errors import BadSettings
from core.settings import Settings
from core.tokens import TokenTable
from ledger import Ledger
from rejoinder.assembly import chat_workspaces
from rejoinder.guard_assembly import open_guard
from stream.gateway import Gateway
from stream.intake import Intake
from stream.janitor import Janitor
from stream.outbox import OutboxPublisher
from stream.producer import Producer
from stream.sweeper import Sweeper

MAX_DECISION_BYTES = 200_000
"""Largest request body for decisions, in bytes; flags have a separate limit."""


@asynccontextmanager
async def web_process(
    settings: Settings,
    ledger: Ledger,
    producer: Producer,
    *,
    gateway: bool,
    desk: bool,
    parts: Mapping[str, str] | None = None,
    before_serving: Callable[[], Awaitable[None]] | None = None,
) -> AsyncIterator[int]:
    """Serve the chosen parts and yield the port.

    The gateway includes the intake; the desk includes the outbox publisher, the sweeper and the janitor. `parts`
    describes the parts of a demo; `before_serving` is called when everything is loaded.
    """
    if not settings.desk.tokens:
        raise BadSettings(
            "No token is set, so nobody could call. Set REJOINDER_DESK__TOKENS, for example "
            '\'{"ana": {"token": "at-least-8-characters", "role": "lead"}}\'.'
        )
    app = web.Application(client_max_size=MAX_DECISION_BYTES)
    if settings.desk.trusted_proxies:
        app.middlewares.append(behind_proxies(settings.desk.trusted_proxies, settings.desk.proxy_header))
    tokens = TokenTable(settings.desk.tokens)
    jobs: list[Coroutine[Any, Any, None]] = []
    http_gateway = Gateway(producer, ledger, tokens, settings.gateway, settings.kafka)
    http_gateway.add_health_to(app)
    if gateway:
        http_gateway.add_to(app)
        jobs.append(Intake(ledger, settings).run())
    if desk:
        surroundings = Surroundings(settings.care, chat_workspaces(settings), parts or {}, takes_flags=gateway)
        jobs += _add_desk(app, settings, ledger, producer, tokens, surroundings)
    async with running(jobs):
        if before_serving is not None:
            await before_serving()
        async with serving(app, settings.desk.host, settings.desk.port) as port:
            yield port


def _add_desk(
    app: web.Application, settings: Settings, ledger: Ledger, producer: Producer, tokens: TokenTable,
    surroundings: Surroundings,
) -> list[Coroutine[Any, Any, None]]:  # fmt: skip
    """Add the desk to an application and return its background jobs."""
    changes = Changes(ledger.history)
    desk = Desk(ledger, open_guard(settings), settings.desk, settings.draft.choices)
    add_desk(app, desk, ledger, changes, Auth(tokens, ledger.sessions), surroundings)
    return [
        changes.run(),
        OutboxPublisher(ledger, producer, settings).run(),
        Sweeper(ledger, producer, settings).run(),
        Janitor(ledger, settings).run(),
    ]


@asynccontextmanager
async def serving(app: web.Application, host: str, port: int) -> AsyncIterator[int]:
    """Serve an application and yield its port; slow clients are cut off. Raises BadSettings if it can't listen."""
    app.middlewares.append(hurried_bodies)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0, keepalive_timeout=IDLE_S)
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    try:
        await site.start()
    except OSError as error:
        await runner.cleanup()
        raise BadSettings(
            f"Port {port} on {host} can't be used ({error.strerror}). Free it, choose another with --port, or set the "
            "host to an address of this machine (desk.host)."
        ) from error
    try:
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
