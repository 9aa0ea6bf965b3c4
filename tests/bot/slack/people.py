"""People in Slack, who press, choose, type and send; their actions reach the app over a socket or signed HTTP."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp

from tests.bot.slack.block_kit import complaints_about_modal, elements
from tests.bot.slack.socket_mode import SocketMode
from tests.bot.slack.web_api import told
from tests.bot.slack.workplace import View, Workplace

HTTP_S = 3.0


@dataclass(frozen=True)
class Answer:
    """The app's answer: its payload, how long it took, and how often the request was sent."""

    payload: dict[str, Any] | None
    ack_s: float | None
    sends: int = 1
    status: int = 200


@dataclass
class Door:
    """The address and the secret by which an app takes signed HTTP."""

    url: str
    secret: str


def signed(secret: str, body: bytes, at: float | None = None) -> dict[str, str]:
    """Return the headers of a signed request (https://docs.slack.dev/authentication/verifying-requests-from-slack)."""
    moment = str(int(time.time() if at is None else at))
    digest = hmac.new(secret.encode(), b"v0:" + moment.encode() + b":" + body, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": moment, "X-Slack-Signature": f"v0={digest}"}


class People:
    """The people of a workplace: they press buttons, submit forms and type commands."""

    def __init__(self, workplace: Workplace, socket: SocketMode, address: Callable[[], str]) -> None:
        self._at = workplace
        self._socket = socket
        self._address = address
        self.door: Door | None = None
        self.http_s = HTTP_S

    async def press(
        self, user: str, channel: str, ts: str, action_id: str, value: str | None = None, *, private: bool = False
    ) -> Answer:
        """Press a button of a message, or choose `value` in its menu; a `private` message is one that only they see."""
        message = self._at.channels[channel].messages[ts]
        action = self._action(message["blocks"], action_id, value)
        team = self._at.channels[channel].team
        key = self._at.response_url(team, channel, user, ts)
        return await self._interact({
            **self._person(team, user), "type": "block_actions", "trigger_id": self._at.trigger(team, user),
            "container": {"type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": private},
            "channel": {"id": channel, "name": self._at.channels[channel].name}, "message": message,
            "response_url": f"{self._address()}/response/{key}", "actions": [action], "state": {"values": {}},
        })  # fmt: skip

    async def press_in_view(self, user: str, view_id: str, action_id: str, value: str | None = None) -> Answer:
        """Press a button of an open modal."""
        view = self._at.views[view_id]
        action = self._action(view.content["blocks"], action_id, value)
        trigger = self._at.trigger(view.team, user, view.id)
        return await self._interact({
            **self._person(view.team, user), "type": "block_actions", "trigger_id": trigger,
            "container": {"type": "view", "view_id": view.id}, "view": told(view), "actions": [action],
        })  # fmt: skip

    async def submit(self, user: str, view_id: str, values: dict[str, Any]) -> Answer:
        """Fill in a modal's inputs, by action id, and submit it; other inputs keep their initial values."""
        view = self._at.views[view_id]
        state = {
            block["block_id"]: {block["element"]["action_id"]: _filled(block["element"], values)}
            for block in view.content["blocks"]
            if block["type"] == "input"
        }
        unknown = set(values) - {id for state_of in state.values() for id in state_of}
        assert not unknown, f"the modal has no input {unknown}"
        answer = await self._interact({
            **self._person(view.team, user), "type": "view_submission",
            "trigger_id": self._at.trigger(view.team, user, view.id),
            "view": told(view) | {"state": {"values": state}}, "response_urls": [],
        }, accepts_payload=True)  # fmt: skip
        self._follow(view, answer)
        return answer

    async def command(self, user: str, channel: str, text: str, command: str = "/rejoinder") -> Answer:
        """Type a slash command."""
        team = self._at.channels[channel].team
        key = self._at.response_url(team, channel, user, None)
        payload = {
            "command": command, "text": text, "user_id": user, "user_name": self._at.names.get(user, "somebody"),
            "team_id": team, "team_domain": "example", "channel_id": channel,
            "channel_name": self._at.channels[channel].name, "api_app_id": "A0REJOINDER",
            "trigger_id": self._at.trigger(team, user), "response_url": f"{self._address()}/response/{key}",
        }  # fmt: skip
        if self.door is not None:
            return await self._over_http(urlencode(payload).encode())
        envelope = await self._socket.deliver("slash_commands", payload, True)
        return Answer(envelope.answer, envelope.ack_s, envelope.sends)

    async def event(self, team: str, event: dict[str, Any]) -> Answer:
        """Send an event that the app subscribes to."""
        payload = {
            "type": "event_callback", "token": "old", "team_id": team, "api_app_id": "A0REJOINDER", "event": event,
            "event_id": f"Ev{self._at.number():09d}", "event_time": int(time.time()),
            "authorizations": [{"team_id": team, "user_id": "U0BOT", "is_bot": True}],
        }  # fmt: skip
        if self.door is not None:
            return await self._over_http(json.dumps(payload).encode(), "application/json")
        envelope = await self._socket.deliver("events_api", payload, False)
        return Answer(envelope.answer, envelope.ack_s, envelope.sends)

    def _person(self, team: str, user: str) -> dict[str, Any]:
        name = self._at.names.get(user, "somebody")
        return {"api_app_id": "A0REJOINDER", "team": {"id": team, "domain": "example"}, "token": "old",
                "user": {"id": user, "username": name, "name": name, "team_id": team},
                "is_enterprise_install": False, "enterprise": None}  # fmt: skip

    def _action(self, blocks: list[dict[str, Any]], action_id: str, value: str | None) -> dict[str, Any]:
        block, element = next(
            (block, element) for block in blocks for element in elements(block) if element["action_id"] == action_id
        )
        action = {"action_id": action_id, "block_id": block.get("block_id", "made-up"), "type": element["type"],
                  "action_ts": f"{time.time():.6f}"}  # fmt: skip
        if element["type"] == "button":
            return action | {"value": element.get("value", ""), "text": element["text"]}
        return action | {"selected_option": _option(element, value)}

    async def _interact(self, payload: dict[str, Any], accepts_payload: bool = False) -> Answer:
        if self.door is not None:
            return await self._over_http(urlencode({"payload": json.dumps(payload)}).encode())
        envelope = await self._socket.deliver("interactive", payload, accepts_payload)
        return Answer(envelope.answer, envelope.ack_s, envelope.sends)

    async def _over_http(self, body: bytes, kind: str = "application/x-www-form-urlencoded") -> Answer:
        assert self.door is not None
        return await self.knock(body, signed(self.door.secret, body) | {"Content-Type": kind})

    async def knock(self, body: bytes, headers: dict[str, str]) -> Answer:
        """Send any bytes to the app's HTTP address, as strangers could."""
        assert self.door is not None
        began = time.monotonic()
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=self.http_s)) as session,
            session.post(self.door.url, data=body, headers=headers) as response,
        ):
            text, took = await response.text(), time.monotonic() - began
            payload = json.loads(text) if response.content_type == "application/json" and text else None
            if payload is None and text:
                payload = {"text": text}
            return Answer(payload, took, 1, response.status)

    def _follow(self, view: View, answer: Answer) -> None:
        payload = answer.payload or {}
        match payload.get("response_action"):
            case None:
                view.open = answer.status != 200
            case "errors":
                inputs = {block["block_id"] for block in view.content["blocks"] if block["type"] == "input"}
                assert payload["errors"] and set(payload["errors"]) <= inputs, payload
            case "update" | "push" as action:
                assert not (complaints := complaints_about_modal(payload["view"])), complaints
                if action == "update":
                    view.content, view.hash = payload["view"], f"{self._at.number()}.hash"
                else:
                    id = f"V{self._at.number():09d}"
                    hash = f"{self._at.number()}.hash"
                    self._at.views[id] = View(id, view.team, view.user, payload["view"], hash, view.root)
            case "clear":
                for other in self._at.views.values():
                    other.open = other.open and other.root != view.root
            case other:
                raise AssertionError(f"Slack knows no response_action {other!r}")


def _filled(element: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    given = values.get(element["action_id"])
    match element["type"]:
        case "plain_text_input":
            value = element.get("initial_value") if given is None else given
            assert value is None or len(value) <= element.get("max_length", 3000), "Slack lets nobody type that much"
            return {"type": element["type"], "value": value or None}
        case "static_select":
            chosen = element.get("initial_option") if given is None else _option(element, given)
            return {"type": element["type"], "selected_option": chosen}
        case "checkboxes":
            chosen = [option for option in element["options"] if option["value"] in (given or ())]
            return {"type": element["type"], "selected_options": chosen}
    raise AssertionError(element)


def _option(element: dict[str, Any], value: str | None) -> dict[str, Any]:
    return next(dict(option) for option in element["options"] if option["value"] == value)
