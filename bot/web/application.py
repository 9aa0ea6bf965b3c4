"""Put the desk into an aiohttp application: its API, its event stream, its page and its change feed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from aiohttp import web

from bot.api import CaseApi
from bot.auth import Auth
from bot.changes import Changes
from bot.desk import Desk
from bot.events import EventRoute
from bot.http_errors import errors_as_json
from bot.session_api import SessionApi
from bot.web.pages import Pages


def add_desk(app: web.Application, desk: Desk, changes: Changes, auth: Auth) -> None:
    """Add everything of the desk to `app`; the change feed runs as long as the application does."""
    app.middlewares.append(errors_as_json)
    auth.add_routes(app)
    EventRoute(changes, auth).add_routes(app)
    CaseApi(desk, changes, auth).add_routes(app)
    SessionApi(auth.open_sessions, auth).add_routes(app)
    settings = desk.settings
    Pages(
        confirm_covered=settings.confirm_covered,
        record_uncovering=settings.record_uncovering,
        moderators=desk.moderators,
        strategies=desk.strategies,
    ).add_routes(app)

    async def follow_changes(_: web.Application) -> AsyncIterator[None]:
        task = asyncio.create_task(changes.run(), name="desk changes")
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    app.cleanup_ctx.append(follow_changes)


def page_address(host: str, port: int, token: str | None = None) -> str:
    """Return the page's address. The token is put behind the `#`, which browsers never send to a server."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"http://{reachable}:{port}/" + (f"#token={token}" if token else "")
