"""The state of a fake Discord: servers, channels, members, messages, open interactions.

Written from https://discord.com/developers/docs, and as strict as the platform.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

EPOCH_MS = 1_420_070_400_000
ACK_S = 3.0
PATIENCE_S = 60.0
"""How long tests wait for an answer instead, so that a busy machine does not make the bot late."""
TOKEN_LIFE_S = 900.0
NONCE_S = 180.0

VIEW, SEND, EMBED, FILES, HISTORY = 1 << 10, 1 << 11, 1 << 14, 1 << 15, 1 << 16
ALL_NEEDED = VIEW | SEND | EMBED | FILES | HISTORY
EPHEMERAL = 64


class DiscordError(Exception):
    """An error answer of the REST API."""

    def __init__(self, status: int, code: int, message: str, errors: Any = None, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.body: dict[str, Any] = {"code": code, "message": message, **more}
        if errors:
            self.body["errors"] = errors


@dataclass
class Channel:
    id: str
    name: str
    guild: str
    permissions: int = ALL_NEEDED


@dataclass
class Member:
    id: str
    name: str
    roles: list[str]


@dataclass
class Exchange:
    """One interaction: the request, and all answers to it."""

    id: str
    token: str
    kind: int
    user: Member
    guild: str
    channel: str
    sent_at: float
    source: str | None = None
    callback: dict[str, Any] | None = None
    latency_s: float = 0.0
    original: str | None = None
    followups: list[str] = field(default_factory=list)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def modal(self) -> dict[str, Any]:
        assert self.callback is not None
        assert self.callback["type"] == 9, self.callback
        return dict(self.callback["data"])


@dataclass
class Guild:
    id: str
    name: str
    roles: dict[str, str]
    members: dict[str, Member]
    commands: list[dict[str, Any]] = field(default_factory=list)


class World:
    """Everything in a Discord; it also assigns the ids."""

    def __init__(self, token: str, *, limit: int = 5, window_s: float = 0.25) -> None:
        self.token = token
        self.application = "900000000000000001"
        self.guilds: dict[str, Guild] = {}
        self.channels: dict[str, Channel] = {}
        self.messages: dict[str, dict[str, Any]] = {}
        self.exchanges: dict[str, Exchange] = {}
        self.complaints: list[str] = []
        self.pings: list[str] = []
        self.requests: list[tuple[str, str]] = []
        self.edits: defaultdict[str, int] = defaultdict(int)
        self.changed = asyncio.Event()
        self.hold_s: dict[str, float] = {}
        self._held_until: dict[str, float] = {}
        self.limit = limit
        self.window_s = window_s
        self.ack_s = ACK_S
        self.refused = 0
        self.down = False
        self._uses: defaultdict[str, deque[float]] = defaultdict(deque)
        self._last = 0

    def id(self) -> str:
        self._last = max(self._last + 1, (int(time.time() * 1000) - EPOCH_MS) << 22)
        return str(self._last)

    def add_guild(self, name: str, roles: dict[str, str], members: list[tuple[str, list[str]]]) -> Guild:
        role_ids = {role: self.id() for role in roles}
        guild = Guild(self.id(), name, {role: role_ids[role] for role in roles}, {})
        for who, held in members:
            member = Member(self.id(), who, [role_ids[role] for role in held])
            guild.members[who] = member
        self.guilds[guild.id] = guild
        return guild

    def add_channel(self, guild: Guild, name: str) -> Channel:
        channel = Channel(self.id(), name, guild.id)
        self.channels[channel.id] = channel
        return channel

    def channel(self, channel_id: str, needs: int) -> Channel:
        """Return a channel in which the bot has the permissions `needs`; raises Discord's error if it doesn't."""
        if channel_id not in self.channels:
            raise DiscordError(404, 10003, "Unknown Channel")
        channel = self.channels[channel_id]
        if not channel.permissions & VIEW:
            raise DiscordError(403, 50001, "Missing Access")
        if needs & ~channel.permissions:
            raise DiscordError(403, 50013, "Missing Permissions")
        return channel

    def new_message(
        self, channel: str, payload: dict[str, Any], *, flags: int = 0, webhook: bool = False
    ) -> dict[str, Any]:
        message: dict[str, Any] = {
            "id": self.id(), "type": 0, "channel_id": channel, "author": self.bot_user(), "timestamp": stamp(),
            "edited_timestamp": None, "tts": False, "mention_everyone": False, "mentions": [], "mention_roles": [],
            "attachments": [], "pinned": False, "flags": flags, "content": "", "embeds": [], "components": [],
        }  # fmt: skip
        if webhook:
            message |= {"webhook_id": self.application, "application_id": self.application}
        self.messages[message["id"]] = message
        self.fill(message, payload)
        return message

    def fill(self, message: dict[str, Any], payload: dict[str, Any]) -> None:
        for name in ("content", "embeds", "components", "attachments"):
            if name in payload:
                empty: Any = "" if name == "content" else []
                message[name] = payload[name] if payload[name] is not None else empty
        if "nonce" in payload:
            message["nonce"] = payload["nonce"]
        self.changed.set()

    def bot_user(self) -> dict[str, Any]:
        return {
            "id": self.application, "username": "rejoinder", "discriminator": "0000", "global_name": None,
            "avatar": None, "bot": True, "public_flags": 0,
        }  # fmt: skip

    def in_channel(self, channel: Channel | str) -> list[dict[str, Any]]:
        """Return what everybody sees in a channel, oldest first."""
        channel_id = channel if isinstance(channel, str) else channel.id
        return [
            message for message in self.messages.values()
            if message["channel_id"] == channel_id and not message["flags"] & EPHEMERAL
        ]  # fmt: skip

    def take(self, bucket: str) -> dict[str, str]:
        """Take one use from a rate limit and return its headers; raises a 429 if none is left."""
        name = bucket.split(":")[0]
        if name in self.hold_s:  # the hold starts with the first use, whenever that is
            self._held_until.setdefault(name, time.monotonic() + self.hold_s[name])
        if (until := self._held_until.get(name, 0.0)) > time.monotonic():
            self.refused += 1
            wait = until - time.monotonic()
            raise DiscordError(429, 0, "You are being rate limited.", retry_after=round(wait, 3), **{"global": False})
        uses, moment = self._uses[bucket], time.monotonic()
        while uses and uses[0] <= moment - self.window_s:
            uses.popleft()
        if len(uses) >= self.limit:
            self.refused += 1
            wait = uses[0] + self.window_s - moment
            raise DiscordError(429, 0, "You are being rate limited.", retry_after=round(wait, 3), **{"global": False})
        uses.append(moment)
        reset = uses[0] + self.window_s - moment
        return {
            "X-RateLimit-Limit": str(self.limit), "X-RateLimit-Remaining": str(self.limit - len(uses)),
            "X-RateLimit-Reset": f"{time.time() + reset:.3f}", "X-RateLimit-Reset-After": f"{reset:.3f}",
            "X-RateLimit-Bucket": bucket.split(":")[0],
        }  # fmt: skip

    def complain(self, what: str) -> None:
        """Record something that a correct client must never do."""
        self.complaints.append(what)

    async def until(self, condition: Any, timeout_s: float = PATIENCE_S) -> Any:
        """Wait until `condition()` is true; it is checked after each change."""
        deadline = time.monotonic() + timeout_s
        while not (outcome := condition()):
            self.changed.clear()
            left = deadline - time.monotonic()
            assert left > 0, "Discord never saw what was waited for"
            try:
                await asyncio.wait_for(self.changed.wait(), min(left, 0.1))
            except TimeoutError:
                continue
        return outcome


def stamp() -> str:
    return datetime.now(UTC).isoformat()
