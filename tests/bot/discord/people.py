"""People at their Discord clients: they press buttons, fill in forms, type, and read public and private answers."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from tests.bot.discord import rules
from tests.bot.discord.gateway import Gateway
from tests.bot.discord.payloads import channel_payload, member_payload
from tests.bot.discord.world import EPHEMERAL, PATIENCE_S, Exchange, Guild, Member, World


class Person:
    """One member of a server at their client."""

    def __init__(self, world: World, gateway: Gateway, guild: Guild, member: Member) -> None:
        self.world = world
        self.gateway = gateway
        self.guild = guild
        self.member = member
        self.locale = "en-US"

    async def press(self, message: dict[str, Any], label: str) -> Exchange:
        """Press a button that the message has at present, and wait for the answer."""
        exchange = await self.press_only(message, label)
        await self.answered(exchange)
        return exchange

    async def press_only(self, message: dict[str, Any], label: str) -> Exchange:
        offered = {item["label"]: item["custom_id"] for item in rules.buttons(message["components"])}
        assert label in offered, f"no button {label!r}, only {list(offered)}"
        return await self._send(3, message, {"custom_id": offered[label], "component_type": 2, "id": 2})

    async def fill_in(self, opened: Exchange, **values: str) -> Exchange:
        """Fill in and send the form that pressing a button opened."""
        exchange = await self.submit(opened, opened.modal, **values)
        await self.answered(exchange)
        return exchange

    async def submit(self, opened: Exchange, modal: dict[str, Any], **values: str) -> Exchange:
        sent = []
        for number, label in enumerate(modal["components"], start=1):
            item = label["component"]
            given = values.pop(item["custom_id"], None)
            if item["type"] == 4:
                text = item.get("value") or "" if given is None else given
                assert not (item.get("required", True) and not text), "Discord's client insists on the field"
                assert len(text) <= item.get("max_length", 4_000), "Discord's client takes no more"
                answer: dict[str, Any] = {"value": text}
            else:
                if given is None:
                    given = next((option["value"] for option in item["options"] if option.get("default")), None)
                chosen = [option["value"] for option in item["options"] if option["value"] == given]
                assert len(chosen) >= item.get("min_values", 1), "Discord's client insists on a choice"
                assert chosen or given is None, f"{given!r} is no choice"
                answer = {"values": chosen}
            sent.append({"type": 18, "id": 2 * number, "component": {
                "type": item["type"], "id": 2 * number + 1, "custom_id": item["custom_id"], **answer}})  # fmt: skip
        assert not values, f"the form has no field {list(values)}"
        message = self.world.messages[opened.source] if opened.source else None
        return await self._send(5, message, {"custom_id": modal["custom_id"], "components": sent})

    async def command(self, channel: str, path: str, **options: Any) -> Exchange:
        """Type `/path` with options, for example `rejoinder intent set`."""
        exchange = await self._send(2, None, self._command(path, options), channel)
        await self.answered(exchange)
        return exchange

    async def choices(self, channel: str, path: str, focused: str, typed: str = "", **options: Any) -> list[str]:
        """Return the choices that Discord would offer while an option is typed."""
        data = self._command(path, {**options, focused: typed})
        _leaf(data)[-1]["focused"] = True
        exchange = await self._send(4, None, data, channel)
        await self.answered(exchange)
        assert exchange.callback is not None
        return [item["value"] for item in exchange.callback["data"]["choices"]]

    async def answered(self, exchange: Exchange) -> None:
        await asyncio.wait_for(exchange.answered.wait(), PATIENCE_S)

    async def told(self, exchange: Exchange, timeout_s: float = PATIENCE_S) -> dict[str, Any]:
        """Return the private answer that only this person sees, as a first answer or a follow-up."""

        def find() -> dict[str, Any] | None:
            ids = [*exchange.followups, *([exchange.original] if exchange.original else [])]
            private = [self.world.messages[id] for id in ids if self.world.messages[id]["flags"] & EPHEMERAL]
            filled = [item for item in private if item["content"] or item["embeds"] or item["attachments"]]
            return filled[0] if filled else None

        answer: dict[str, Any] = await self.world.until(find, timeout_s)
        return answer

    def _command(self, path: str, options: dict[str, Any]) -> dict[str, Any]:
        name, *inner = path.split()
        command = next(item for item in self.guild.commands if item["name"] == name)
        known, data = command, {"id": command["id"], "name": name, "type": 1, "guild_id": self.guild.id}
        place: dict[str, Any] = data
        for step in inner:
            known = next(item for item in known["options"] if item["name"] == step)
            place["options"] = [{"name": step, "type": known["type"]}]
            place = place["options"][0]
        types = {item["name"]: item for item in known.get("options") or []}
        missing = [item["name"] for item in types.values() if item.get("required") and item["name"] not in options]
        assert not missing, f"Discord's client insists on {missing}"
        place["options"] = [self._option(types[name], value) for name, value in options.items()]
        users = [item["value"] for item in place["options"] if item["type"] == 6]
        if users:
            members = {item.id: item for item in self.guild.members.values()}
            data["resolved"] = {
                "users": {id: member_payload(members[id])["user"] for id in users},
                "members": {id: {k: v for k, v in member_payload(members[id]).items() if k != "user"} for id in users},
            }
        return data

    def _option(self, known: dict[str, Any], value: Any) -> dict[str, Any]:
        choices = [item["value"] for item in known.get("choices") or []]
        assert not choices or value in choices, f"{value!r} is none of {choices}"
        return {"name": known["name"], "type": known["type"], "value": value}

    async def _send(
        self, kind: int, message: dict[str, Any] | None, data: dict[str, Any], channel: str | None = None
    ) -> Exchange:
        world = self.world
        where = channel or (message["channel_id"] if message else "")
        exchange = Exchange(
            world.id(), f"token-{world.id()}", kind, self.member, self.guild.id, where, time.monotonic(),
            message["id"] if message else None,
        )  # fmt: skip
        world.exchanges[exchange.token] = exchange
        place = world.channels.get(where)
        payload: dict[str, Any] = {
            "id": exchange.id, "application_id": world.application, "type": kind, "token": exchange.token, "version": 1,
            "guild_id": self.guild.id, "guild": {"id": self.guild.id, "locale": "en-US", "features": []},
            "channel_id": where, "member": member_payload(self.member), "data": data, "locale": self.locale,
            "channel": channel_payload(where, place.name if place else "gone", self.guild.id),
            "guild_locale": "en-US", "app_permissions": "2147483647", "entitlements": [],
            "authorizing_integration_owners": {"0": self.guild.id}, "context": 0, "attachment_size_limit": 10_485_760,
        }  # fmt: skip
        if message is not None:
            payload["message"] = message
        await self.gateway.dispatch("INTERACTION_CREATE", payload)
        return exchange


def _leaf(data: dict[str, Any]) -> list[dict[str, Any]]:
    options: list[dict[str, Any]] = data["options"]
    return _leaf(options[0]) if options and "options" in options[0] else options
