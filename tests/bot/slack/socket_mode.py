"""A fake of Slack's Socket Mode: tickets, hello, envelopes, acks, disconnect.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from aiohttp import WSMsgType, web

from tests.bot.slack.workplace import Grant

ACK_S = 3.0
MOST_CONNECTIONS = 10


@dataclass
class Envelope:
    """One payload, which is sent until it is acknowledged."""

    type: str
    payload: dict[str, Any]
    accepts_payload: bool
    id: str = field(default_factory=lambda: str(uuid4()))
    sends: int = 0
    acked: asyncio.Event = field(default_factory=asyncio.Event)
    answer: dict[str, Any] | None = None
    ack_s: float | None = None


class SocketMode:
    """The open connections; an envelope goes to one of them, and is sent again if it is not acknowledged in time."""

    def __init__(self, address: Callable[[], str], ack_s: float = ACK_S) -> None:
        self._address = address
        self._tickets: set[str] = set()
        self._open: list[web.WebSocketResponse] = []
        self._waiting: dict[str, Envelope] = {}
        self._numbers = itertools.count()
        self.ack_s = ack_s
        self.connected = asyncio.Event()
        self.complaints: list[str] = []
        self.refuse = False

    def open(self, _: Grant) -> str:
        """Return a URL that is valid for one connection."""
        ticket = uuid4().hex
        self._tickets.add(ticket)
        return f"{self._address().replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id=A0REJOINDER"

    def add_routes(self, app: web.Application) -> None:
        app.router.add_get("/link/", self._serve)
        app.on_shutdown.append(self._shut)

    async def _shut(self, _: web.Application) -> None:
        for socket in list(self._open):
            await socket.close()

    async def _serve(self, request: web.Request) -> web.WebSocketResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets or self.refuse or len(self._open) >= MOST_CONNECTIONS:
            raise web.HTTPRequestTimeout
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": len(self._open) + 1,
                                "connection_info": {"app_id": "A0REJOINDER"}, "debug_info": {}})  # fmt: skip
        self._open.append(socket)
        self.connected.set()
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._take(json.loads(message.data))
        finally:
            self._open.remove(socket)
            if not self._open:
                self.connected.clear()
        return socket

    def _take(self, ack: dict[str, Any]) -> None:
        envelope = self._waiting.get(ack.get("envelope_id", ""))
        if envelope is None:
            self.complaints.append(f"an ack for no envelope: {ack}")
        elif envelope.acked.is_set() and envelope.sends == 1:
            self.complaints.append(f"a second ack for {envelope.id}")
        elif "payload" in ack and not envelope.accepts_payload:
            self.complaints.append(f"a payload that {envelope.type} does not take: {ack}")
        else:
            envelope.answer = ack.get("payload") if envelope.answer is None else envelope.answer
            envelope.acked.set()

    async def deliver(self, type: str, payload: dict[str, Any], accepts_payload: bool, most: int = 3) -> Envelope:
        """Send an envelope until it is acknowledged, up to `most` times; late acks don't count."""
        envelope = Envelope(type, payload, accepts_payload)
        self._waiting[envelope.id] = envelope
        while envelope.sends < most and not envelope.acked.is_set():
            await self.send(envelope)
            try:
                began = time.monotonic()
                await asyncio.wait_for(envelope.acked.wait(), self.ack_s)
                envelope.ack_s = time.monotonic() - began
            except TimeoutError:
                self.complaints.append(f"no ack within {self.ack_s:g} s for {type}")
        return envelope

    async def send(self, envelope: Envelope) -> None:
        """Send an envelope once, to one connection."""
        await asyncio.wait_for(self.connected.wait(), 60)
        frame = {"envelope_id": envelope.id, "type": envelope.type, "payload": envelope.payload,
                 "accepts_response_payload": envelope.accepts_payload}  # fmt: skip
        if envelope.type == "events_api":
            frame |= {"retry_attempt": envelope.sends, "retry_reason": "timeout" if envelope.sends else ""}
        envelope.sends += 1
        sockets = self._open
        await sockets[next(self._numbers) % len(sockets)].send_json(frame)

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Ask every client to reconnect, as Slack does every few hours."""
        for socket in list(self._open):
            await socket.send_json({"type": "disconnect", "reason": reason, "debug_info": {"host": "here"}})

    def connections(self) -> set[web.WebSocketResponse]:
        """Return the connections that are open."""
        return set(self._open)

    def cut(self) -> None:
        """Drop every connection without notice, as a network failure does."""
        for socket in list(self._open):
            if socket._req is not None and socket._req.transport is not None:
                socket._req.transport.abort()
