"""Changes as server-sent events (HTML standard, section 9.2): `GET /v1/events`.

- `transition` has one row of the history; the event's id is the row's id.
- `ready` is sent at the start, after any changes that a reconnecting client missed, and says how often to expect a
  heartbeat.
- `heartbeat` is sent after some seconds of silence: a client that hears nothing for much longer is on a dead line.
- `reload` means that some changes were lost, or are too many to replay: read everything again.
- `escalations`, for leads, lists the cases that are escalated and not handled, before `ready` for a client that saw
  nothing yet and before `reload`; it has no id, and each item is a row of the history.
- `viewing` tells a page who is looking at its case. The page identifies itself by `?tab=` and reports its case by `POST
  /v1/viewing`.

A client that reconnects sends `Last-Event-ID` (or `?after=`) and receives what it missed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import ExitStack, suppress
from dataclasses import asdict
from typing import Annotated, Any, cast

from aiohttp import web
from pydantic import BaseModel, Field

from bot.auth import Auth
from bot.changes import BACKLOG, Changes, Subscription
from bot.permissions import Moderator
from bot.presence import Presence, Viewing
from bot.request_body import read_body
from bot.stored_words import translate_stored
from core.domain import Transition
from core.errors import BadInput, TooManyRequests, Unauthenticated, Unavailable
from ledger.history import History

log = logging.getLogger(__name__)

HEARTBEAT_S = 15.0
"""Seconds of silence after which a heartbeat is sent, so that proxies keep the connection open and both ends notice a
dead one."""
MOST_STREAMS = 16
"""Maximum number of open streams per token: more tabs than anybody reads, but too few to overload a server."""
MAX_TAB = 64
_HEARTBEAT = b"event: heartbeat\ndata: {}\n\n"
_StreamedEvent = Transition | Viewing


class _TabView(BaseModel):
    """The case shown in one tab of the page; None for no case."""

    tab: Annotated[str, Field(min_length=1, max_length=MAX_TAB)]
    case: Annotated[str, Field(max_length=300)] | None = None


class EventRoute:
    """The stream of changes for logged-in moderators."""

    def __init__(self, changes: Changes, auth: Auth, history: History, heartbeat_s: float | None = None) -> None:
        self._changes = changes
        self._auth = auth
        self._history = history
        self._heartbeat_s = HEARTBEAT_S if heartbeat_s is None else heartbeat_s
        self._presence = Presence()
        self._streams: dict[asyncio.Task[Any], str] = {}
        self._ending = False

    def add_routes(self, app: web.Application) -> None:
        """Add the routes; when the server stops, open streams end at once instead of delaying it."""
        app.router.add_get("/v1/events", self._stream)
        app.router.add_post("/v1/viewing", self._look)
        app.on_shutdown.append(self._end_streams)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        who = await self._auth.moderator(request)
        after, tab = _last_seen(request), request.query.get("tab", "")[:MAX_TAB]
        if list(self._streams.values()).count(who.name) >= MOST_STREAMS:
            raise TooManyRequests(f"{who.name} has {MOST_STREAMS} streams of events open; close some", HEARTBEAT_S)
        if self._ending:
            raise Unavailable("The desk is stopping; come back in a moment")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"})
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._streams[task] = who.name
        try:
            await response.prepare(request)
            with self._changes.attach(Subscription[_StreamedEvent](BACKLOG)) as subscription, ExitStack() as stack:
                if tab:
                    stack.enter_context(self._presence.present(tab, who.name, subscription.offer))
                await self._send_all(request, response, subscription, after, who)
        except Unauthenticated:
            log.debug("A listener to changes was logged out.")
        except ConnectionError:
            log.debug("A listener to changes went away.")
        finally:
            del self._streams[task]
        return response

    async def _look(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        view = await read_body(request, _TabView)
        self._presence.look(view.tab, who.name, view.case)
        return web.json_response({})

    async def _send_all(
        self,
        request: web.Request,
        response: web.StreamResponse,
        subscription: Subscription[_StreamedEvent],
        after: int | None,
        who: Moderator,
    ) -> None:
        """Send changes until the client disconnects. Raises Unauthenticated soon after its session has ended."""
        watch = _SessionWatch(self._auth, request, await self._auth.session(request), self._heartbeat_s)
        last_sent_id = await self._catch_up(response, after, who)
        while True:
            change = await self._next(response, subscription, watch)
            await watch.require_open()
            if change is None:
                last_sent_id = self._changes.last_id or 0
                await self._send_escalations(response, who)
                await response.write(_event("reload", last_sent_id, {}))
            elif isinstance(change, Viewing):
                await response.write(_event("viewing", last_sent_id, asdict(change)))
            elif change.id > last_sent_id:
                await response.write(_transition(change))
                last_sent_id = change.id

    async def _catch_up(self, response: web.StreamResponse, after: int | None, who: Moderator) -> int:
        """Send the missed changes and return the id of the newest change that the client has now."""
        newest = self._changes.last_id or 0
        missed = [] if after is None else await self._changes.missed(after)
        if after is None or missed is None:
            await self._send_escalations(response, who)
        if missed is None:
            await response.write(_event("reload", newest, {}))
            return newest
        for change in missed:
            await response.write(_transition(change))
        last_sent_id = missed[-1].id if missed else newest
        await response.write(_event("ready", last_sent_id, {"heartbeat_s": self._heartbeat_s}))
        return last_sent_id

    async def _send_escalations(self, response: web.StreamResponse, who: Moderator) -> None:
        """Tell a lead what waits for people although its escalation is not, or no longer, among the changes sent."""
        if who.leads and (unhandled := await self._history.unhandled_escalations()):
            await response.write(_event("escalations", None, [_fields(change) for change in unhandled]))

    async def _next(
        self, response: web.StreamResponse, subscription: Subscription[_StreamedEvent], watch: _SessionWatch
    ) -> _StreamedEvent | None:
        while True:
            try:
                async with asyncio.timeout(self._heartbeat_s):
                    return await subscription.next()
            except TimeoutError:
                await watch.require_open()
                await response.write(_HEARTBEAT)

    async def _end_streams(self, _: web.Application) -> None:
        self._ending = True  # otherwise a page that reconnects at once would delay the shutdown
        for task in list(self._streams):
            task.cancel()


class _SessionWatch:
    """A periodic check that a stream's session is still open; streams with a bearer token have no session."""

    def __init__(self, auth: Auth, request: web.Request, session: str | None, every_s: float) -> None:
        self._auth = auth
        self._request = request
        self._session = session
        self._every_s = every_s
        self._checked_at = time.monotonic()

    async def require_open(self) -> None:
        """Raise Unauthenticated if the session has ended."""
        if self._session is None or time.monotonic() < self._checked_at + self._every_s:
            return
        self._checked_at = time.monotonic()
        # While the ledger is unavailable, nothing new is sent anyway.
        with suppress(Unavailable):
            if await self._auth.session(self._request) is None:
                raise Unauthenticated("The session of this stream has ended.")


def _last_seen(request: web.Request) -> int | None:
    last = request.headers.get("Last-Event-ID") or request.query.get("after")
    if last is None:
        return None
    if not (last.isascii() and last.isdigit() and len(last) < 19):
        raise BadInput("Last-Event-ID is not a number that this desk gave out.")
    return int(last)


def _transition(change: Transition) -> bytes:
    return _event("transition", change.id, _fields(change))


def _fields(change: Transition) -> dict[str, Any]:
    return {**change.model_dump(mode="json", exclude={"id"}), "why": translate_stored(change.why)}


def _event(name: str, id: int | None, data: object) -> bytes:
    """Return one event; without an id, the client's last one stays as it is."""
    counted = "" if id is None else f"id: {id}\n"
    return f"{counted}event: {name}\ndata: {json.dumps(data)}\n\n".encode()
