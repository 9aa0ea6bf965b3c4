"""A fake of Discord's gateway: HELLO, IDENTIFY, RESUME, heartbeats and events, with zlib-stream compression."""

from __future__ import annotations

import asyncio
import json
import zlib
from typing import Any

from aiohttp import WSMsgType, web

from tests.bot.discord.payloads import guild_payload
from tests.bot.discord.world import World

HELLO, IDENTIFY, RESUME, HEARTBEAT, ACK, INVALID = 10, 2, 6, 1, 11, 9
FIRST_MESSAGE_S = 5.0


class Gateway:
    """A gateway for one bot; it keeps events that the bot has not seen until the session is resumed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.url = ""
        self.intents = 0
        self.identified = 0
        self.resumed = 0
        self.ready = asyncio.Event()
        self._socket: web.WebSocketResponse | None = None
        self._deflate: Any = None
        self._sent: list[dict[str, Any]] = []
        self._session = ""

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._deflate = zlib.compressobj() if request.query.get("compress") == "zlib-stream" else None
        if request.query.get("v") != "10" or request.query.get("encoding") != "json":
            await socket.close(code=4012)
            return socket
        self._socket = socket
        await self._send({"op": HELLO, "d": {"heartbeat_interval": 41_250}})
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await self._take(socket, json.loads(message.data))
        finally:
            if self._socket is socket:
                self._socket = None
                self.ready.clear()
        return socket

    async def dispatch(self, event: str, data: dict[str, Any]) -> None:
        """Send an event; if it can't be sent now, keep it until the session is resumed."""
        payload = {"op": 0, "t": event, "s": len(self._sent) + 1, "d": data}
        self._sent.append(payload)
        if self._socket is not None and self.ready.is_set():
            await self._send(payload)

    async def cut(self) -> None:
        """Break the connection without a closing handshake."""
        self.ready.clear()
        socket, self._socket = self._socket, None
        if socket is not None and socket._req is not None and socket._req.transport is not None:
            socket._req.transport.abort()

    async def revoke(self) -> None:
        """Make the token invalid: the REST API and the gateway refuse it from now on."""
        self.world.token = "another"
        if self._socket is not None:
            await self._socket.close(code=4004, message=b"Authentication failed.")

    async def _take(self, socket: web.WebSocketResponse, message: dict[str, Any]) -> None:
        match message["op"]:
            case 1:
                await self._send({"op": ACK})
            case 2:
                await self._identify(socket, message["d"])
            case 6:
                await self._resume(socket, message["d"])
            case other:
                self.world.complain(f"unknown gateway opcode {other}")
                await socket.close(code=4001)

    async def _identify(self, socket: web.WebSocketResponse, data: dict[str, Any]) -> None:
        if data["token"] != self.world.token:
            await socket.close(code=4004, message=b"Authentication failed.")
            return
        self.intents = data["intents"]
        self.identified += 1
        self._session = self.world.id()
        self._sent = []
        self.ready.set()
        await self.dispatch("READY", {
            "v": 10, "user": self.world.bot_user(), "session_id": self._session, "resume_gateway_url": self.url,
            "guilds": [{"id": guild, "unavailable": True} for guild in self.world.guilds],
            "application": {"id": self.world.application, "flags": 0},
        })  # fmt: skip
        for guild in self.world.guilds.values():
            await self.dispatch("GUILD_CREATE", guild_payload(self.world, guild))

    async def _resume(self, socket: web.WebSocketResponse, data: dict[str, Any]) -> None:
        if data["token"] != self.world.token:
            await socket.close(code=4004, message=b"Authentication failed.")
            return
        if data["session_id"] != self._session or data["seq"] > len(self._sent):
            await self._send({"op": INVALID, "d": False})
            return
        self.resumed += 1
        for payload in self._sent[data["seq"] :]:
            await self._send(payload)
        self.ready.set()
        await self.dispatch("RESUMED", {})

    async def _send(self, payload: dict[str, Any]) -> None:
        assert self._socket is not None
        text = json.dumps(payload)
        if self._deflate is None:
            await self._socket.send_str(text)
        else:
            packed = self._deflate.compress(text.encode()) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
            await self._socket.send_bytes(packed)
