"""The state of a fake Slack: workspaces, channels, messages, modals, tokens."""

from __future__ import annotations

import itertools
import re
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TRIGGER_S = 3.0
RESPONSE_URL_USES = 5
MANIFEST = Path(__file__).parents[3] / "deploy" / "slack-manifest.yaml"
BOT_SCOPES = frozenset(re.findall(r"^ +- ([a-z]+(?::[a-z]+)?) ", MANIFEST.read_text(), re.MULTILINE))
"""The scopes of the app: exactly those that its manifest requests."""


@dataclass
class Channel:
    id: str
    team: str
    name: str
    private: bool = False
    archived: bool = False
    deleted: bool = False
    bot_inside: bool = True
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    ephemerals: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Grant:
    """A token: its owner, its scopes, and the error with which it is refused once it is invalid."""

    team: str
    kind: str
    scopes: set[str]
    refused: str | None = None


@dataclass
class View:
    id: str
    team: str
    user: str
    content: dict[str, Any]
    hash: str
    root: str
    open: bool = True


@dataclass
class Trigger:
    team: str
    user: str
    given_at: float
    used: bool = False
    view: str | None = None


@dataclass
class ResponseUrl:
    team: str
    channel: str
    user: str
    message: str | None
    uses: int = 0


@dataclass
class Workplace:
    channels: dict[str, Channel] = field(default_factory=dict)
    tokens: dict[str, Grant] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    groups: dict[str, set[str]] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    triggers: dict[str, Trigger] = field(default_factory=dict)
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    limits: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    broken: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    trigger_s: float = TRIGGER_S
    _last: float = 0.0
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def add_team(self, team: str, bot_token: str, scopes: frozenset[str] = BOT_SCOPES) -> None:
        """Install the app in a workspace."""
        self.tokens[bot_token] = Grant(team, "bot", set(scopes))

    def add_channel(self, team: str, id: str, name: str, *, archived: bool = False, bot_inside: bool = True) -> Channel:
        """Add a channel, by default with the bot in it."""
        self.channels[id] = Channel(id, team, name, archived=archived, bot_inside=bot_inside)
        return self.channels[id]

    def number(self) -> int:
        """Return a number not used before."""
        return next(self._numbers)

    def stamp(self) -> str:
        """Return a message's `ts`: unique and increasing."""
        self._last = max(time.time(), self._last + 1e-6)
        return f"{self._last:.6f}"

    def trigger(self, team: str, user: str, view: str | None = None) -> str:
        """Return a trigger id, which is valid once, for three seconds."""
        id = f"{self.number()}.{team}.{self.number():032x}"
        self.triggers[id] = Trigger(team, user, time.monotonic(), view=view)
        return id

    def response_url(self, team: str, channel: str, user: str, message: str | None) -> str:
        """Return the key of a response URL, which is valid five times."""
        key = f"{team}/{self.number()}/{self.number():024x}"
        self.response_urls[key] = ResponseUrl(team, channel, user, message)
        return key

    def called(self, method: str) -> list[dict[str, Any]]:
        """Return the arguments of every call of a method."""
        return [arguments for name, arguments in self.calls if name == method]

    def messages(self, channel: str) -> list[dict[str, Any]]:
        """Return a channel's messages, oldest first."""
        return [message for _, message in sorted(self.channels[channel].messages.items())]
