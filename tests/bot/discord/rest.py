"""A fake of Discord's REST API, as far as our bot may use it; any other route is unknown and gets a complaint."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from tests.bot.discord import rules
from tests.bot.discord.payloads import guild_payload, member_payload
from tests.bot.discord.world import (
    ALL_NEEDED,
    EMBED,
    EPHEMERAL,
    HISTORY,
    NONCE_S,
    SEND,
    TOKEN_LIFE_S,
    VIEW,
    DiscordError,
    Exchange,
    Guild,
    Member,
    World,
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
ALLOWED_CALLBACKS = {2: {4, 5, 9}, 3: {4, 5, 6, 7, 9}, 4: {8}, 5: {4, 5, 6, 7}}


class Rest:
    """The REST API over a world."""

    def __init__(self, world: World) -> None:
        self.world = world

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self._errors], client_max_size=26_000_000)
        route = app.router
        route.add_get("/api/v10/users/@me", self._me)
        route.add_get("/api/v10/oauth2/applications/@me", self._application)
        route.add_put("/api/v10/applications/{app}/guilds/{guild}/commands", self._commands)
        route.add_get("/api/v10/guilds/{guild}", self._guild)
        route.add_get("/api/v10/guilds/{guild}/channels", self._channels)
        route.add_get("/api/v10/guilds/{guild}/members/{member}", self._member)
        route.add_post("/api/v10/channels/{channel}/messages", self._post)
        route.add_get("/api/v10/channels/{channel}/messages", self._history)
        route.add_patch("/api/v10/channels/{channel}/messages/{message}", self._edit)
        route.add_post("/api/v10/interactions/{id}/{token}/callback", self._callback)
        route.add_post("/api/v10/webhooks/{app}/{token}", self._followup)
        route.add_patch("/api/v10/webhooks/{app}/{token}/messages/{message}", self._edit_webhook)
        return app

    @web.middleware
    async def _errors(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        world = self.world
        world.requests.append((request.method, request.path))
        if world.down:
            return web.Response(status=503, text="upstream connect error")
        try:
            if not any(part in request.path for part in ("/webhooks/", "/interactions/", "/gateway/")):
                self._authorised(request)
            return await handler(request)
        except DiscordError as error:
            if error.status == 400:
                world.complain(f"{request.method} {request.path}: {error.body}")
            headers = {"Via": "1.1 google"}
            if error.status == 429:
                headers["Retry-After"] = str(error.body["retry_after"])
            return as_json(error.body, status=error.status, headers=headers)
        except web.HTTPNotFound:
            world.complain(f"unknown route {request.method} {request.path}")
            return as_json({"message": "404: Not Found", "code": 0}, status=404)

    def _authorised(self, request: web.Request) -> None:
        if request.headers.get("Authorization") != f"Bot {self.world.token}":
            raise DiscordError(401, 0, "401: Unauthorized")

    async def _me(self, request: web.Request) -> web.Response:
        return as_json({**self.world.bot_user(), "verified": True, "mfa_enabled": False, "flags": 0})

    async def _application(self, request: web.Request) -> web.Response:
        return as_json({
            "id": self.world.application, "name": "Rejoinder", "icon": None, "description": "", "bot_public": False,
            "bot_require_code_grant": False, "verify_key": "0" * 64, "flags": 0, "team": None,
            "owner": {**self.world.bot_user(), "id": "1", "bot": False},
        })  # fmt: skip

    async def _commands(self, request: web.Request) -> web.Response:
        guild = self.world.guilds.get(request.match_info["guild"])
        if guild is None:
            raise DiscordError(403, 50001, "Missing Access")
        commands = await request.json()
        rules.check_commands(commands)
        guild.commands = [
            {**command, "id": self.world.id(), "application_id": self.world.application, "guild_id": guild.id,
             "version": self.world.id(), "default_member_permissions": None}
            for command in commands
        ]  # fmt: skip
        return as_json(guild.commands)

    async def _guild(self, request: web.Request) -> web.Response:
        return as_json(guild_payload(self.world, self._known_guild(request)))

    async def _channels(self, request: web.Request) -> web.Response:
        payload = guild_payload(self.world, self._known_guild(request))
        bot = self.world.application
        for channel in payload["channels"]:
            held = self.world.channels[channel["id"]].permissions
            channel["permission_overwrites"] = [
                {"id": bot, "type": 1, "allow": str(held), "deny": str(ALL_NEEDED & ~held)}
            ]
        return as_json(payload["channels"])

    async def _member(self, request: web.Request) -> web.Response:
        guild, member_id = self._known_guild(request), request.match_info["member"]
        if member_id == self.world.application:
            bot = Member(member_id, "rejoinder", [])
            return as_json(member_payload(bot) | {"user": self.world.bot_user()})
        matches = [member for member in guild.members.values() if member.id == member_id]
        if not matches:
            raise DiscordError(404, 10007, "Unknown Member")
        return as_json(member_payload(matches[0]))

    def _known_guild(self, request: web.Request) -> Guild:
        guild = self.world.guilds.get(request.match_info["guild"])
        if guild is None:
            raise DiscordError(404, 10004, "Unknown Guild")
        return guild

    async def _post(self, request: web.Request) -> web.Response:
        world, where = self.world, request.match_info["channel"]
        headers = world.take(f"post:{where}")
        payload, files = await _payload(request)
        needs = VIEW | SEND | (EMBED if payload.get("embeds") else 0)
        world.channel(where, needs)
        rules.check_message(payload, files=files)
        self._note_pings(payload)
        same = self._same_nonce(where, payload)
        message = same or world.new_message(where, payload)
        return as_json(message, headers=headers)

    def _same_nonce(self, channel: str, payload: dict[str, Any]) -> dict[str, Any] | None:
        nonce = payload.get("nonce")
        if nonce is None or not payload.get("enforce_nonce"):
            return None
        oldest = (int((time.time() - NONCE_S) * 1000) - 1_420_070_400_000) << 22
        repeats = (item for item in self.world.in_channel(channel) if item.get("nonce") == nonce)
        return next((item for item in repeats if int(item["id"]) > oldest), None)

    async def _history(self, request: web.Request) -> web.Response:
        where = request.match_info["channel"]
        headers = self.world.take(f"history:{where}")
        self.world.channel(where, VIEW | HISTORY)
        after, limit = int(request.query.get("after", 0)), int(request.query.get("limit", 50))
        if not 1 <= limit <= 100:
            raise rules.invalid("limit", "NUMBER_TYPE_MAX")
        messages = [item for item in self.world.in_channel(where) if int(item["id"]) > after]
        return as_json(list(reversed(messages[:limit])), headers=headers)

    async def _edit(self, request: web.Request) -> web.Response:
        world, where, which = self.world, request.match_info["channel"], request.match_info["message"]
        headers = world.take(f"edit:{where}")
        world.channel(where, VIEW)
        message = world.messages.get(which)
        if message is None or message["channel_id"] != where or message["flags"] & EPHEMERAL:
            raise DiscordError(404, 10008, "Unknown Message")
        payload, files = await _payload(request)
        rules.check_message(payload, edit=True, files=files)
        self._note_pings(payload)
        world.edits[which] += 1
        world.fill(message, payload)
        return as_json(message, headers=headers)

    async def _callback(self, request: web.Request) -> web.Response:
        world = self.world
        exchange = world.exchanges.get(request.match_info["token"])
        if exchange is None or exchange.id != request.match_info["id"]:
            raise DiscordError(404, 10062, "Unknown interaction")
        exchange.latency_s = time.monotonic() - exchange.sent_at
        if exchange.latency_s > world.ack_s:
            world.complain(f"late answer: {exchange.latency_s:.1f} s")
            raise DiscordError(404, 10062, "Unknown interaction")
        if exchange.callback is not None:
            world.complain("second answer to an interaction")
            raise DiscordError(400, 40060, "Interaction has already been acknowledged.")
        payload, files = await _payload(request)
        if payload["type"] not in ALLOWED_CALLBACKS[exchange.kind]:
            raise rules.invalid("type", "BASE_TYPE_CHOICES")
        message = self._carry_out(exchange, payload, files)
        exchange.callback = payload
        exchange.answered.set()
        world.changed.set()
        return as_json(_response(exchange, payload, message))

    def _carry_out(self, exchange: Exchange, payload: dict[str, Any], files: int) -> dict[str, Any] | None:
        data = payload.get("data") or {}
        match payload["type"]:
            case 4:
                rules.check_message(data, files=files)
                self._note_pings(data)
                message = self.world.new_message(exchange.channel, data, flags=data.get("flags", 0), webhook=True)
                exchange.original = message["id"]
                return message
            case 5:
                message = self.world.new_message(exchange.channel, {}, flags=data.get("flags", 0), webhook=True)
                exchange.original = message["id"]
            case 6 | 7:
                if exchange.source is None:
                    raise rules.invalid("type", "BASE_TYPE_CHOICES")
                exchange.original = exchange.source
                if payload["type"] == 7:
                    rules.check_message(data, edit=True)
                    self.world.fill(self.world.messages[exchange.source], data)
            case 8:
                if len(data["choices"]) > 25 or any(not 1 <= len(item["name"]) <= 100 for item in data["choices"]):
                    raise rules.invalid("choices", "BASE_TYPE_MAX_LENGTH")
            case 9:
                rules.check_modal(data)
        return None

    async def _followup(self, request: web.Request) -> web.Response:
        exchange = self._open(request)
        payload, files = await _payload(request)
        rules.check_message(payload, files=files)
        self._note_pings(payload)
        message = self.world.new_message(exchange.channel, payload, flags=payload.get("flags", 0), webhook=True)
        exchange.followups.append(message["id"])
        exchange.changed.set()
        return as_json(message)

    async def _edit_webhook(self, request: web.Request) -> web.Response:
        exchange, which = self._open(request), request.match_info["message"]
        message_id = exchange.original if which == "@original" else which
        message = self.world.messages.get(message_id or "")
        if message is None:
            raise DiscordError(404, 10008, "Unknown Message")
        payload, files = await _payload(request)
        rules.check_message(payload, edit=True, files=files)
        self._note_pings(payload)
        self.world.edits[message["id"]] += 1
        self.world.fill(message, payload)
        exchange.changed.set()
        return as_json(message)

    def _open(self, request: web.Request) -> Exchange:
        exchange = self.world.exchanges.get(request.match_info["token"])
        if exchange is None or exchange.callback is None or request.match_info["app"] != self.world.application:
            raise DiscordError(404, 10015, "Unknown Webhook")
        if time.monotonic() - exchange.sent_at > TOKEN_LIFE_S:
            raise DiscordError(401, 50027, "Invalid Webhook Token")
        return exchange

    def _note_pings(self, payload: dict[str, Any]) -> None:
        if rules.pings(payload, payload.get("content") or ""):
            self.world.pings.append(payload["content"])


def as_json(data: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """Return a response as Discord's: without a charset in the content type, which discord.py compares."""
    return web.Response(body=json.dumps(data).encode(), status=status, headers=headers, content_type="application/json")


def _response(exchange: Exchange, payload: dict[str, Any], message: dict[str, Any] | None) -> dict[str, Any]:
    interaction: dict[str, Any] = {"id": exchange.id, "type": exchange.kind}
    if exchange.original is not None:
        flags = (payload.get("data") or {}).get("flags", 0)
        interaction |= {
            "response_message_id": exchange.original, "response_message_loading": payload["type"] == 5,
            "response_message_ephemeral": bool(flags & EPHEMERAL),
        }  # fmt: skip
    resource = {"type": payload["type"], **({"message": message} if message else {})}
    return {"interaction": interaction, "resource": resource}


async def _payload(request: web.Request) -> tuple[dict[str, Any], int]:
    """Return the JSON of a request and the number of files sent with it."""
    if not request.content_type.startswith("multipart/"):
        return await request.json(), 0
    payload: dict[str, Any] = {}
    files = 0
    async for part in await request.multipart():
        content = await part.read()  # type: ignore[union-attr]
        if part.name == "payload_json":  # type: ignore[union-attr]
            payload = json.loads(content)
        else:
            files += 1
            name = part.filename or ""  # type: ignore[union-attr]
            payload.setdefault("_files", []).append((name, bytes(content)))
    return _with_files(payload), files


def _with_files(payload: dict[str, Any]) -> dict[str, Any]:
    files = payload.pop("_files", [])
    target = payload.get("data", payload)
    target["attachments"] = [
        {"id": str(index), "filename": name, "size": len(content), "url": "https://cdn.example/x", "proxy_url": "",
         "content": content.decode("latin-1")}
        for index, (name, content) in enumerate(files)
    ]  # fmt: skip
    return payload
