"""Discord's limits on messages, components and forms (https://discord.com/developers/docs)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.bot.discord.world import DiscordError

MESSAGE_KEYS = {
    "content", "embeds", "components", "nonce", "enforce_nonce", "allowed_mentions", "flags", "tts", "attachments",
}  # fmt: skip
EMBED_KEYS = {
    "title", "description", "url", "color", "fields", "footer", "timestamp", "type", "image", "thumbnail", "author",
    "flags",
}  # fmt: skip
_URL = re.compile(r"https?://\S+")


def invalid(where: str, why: str) -> DiscordError:
    return DiscordError(400, 50035, "Invalid Form Body", {where: {"_errors": [{"code": why, "message": why}]}})


def check_message(payload: dict[str, Any], *, edit: bool = False, files: int = 0) -> None:
    if unknown := set(payload) - MESSAGE_KEYS:
        raise invalid(",".join(unknown), "UNKNOWN_FIELD")
    content, embeds = payload.get("content") or "", payload.get("embeds") or []
    _length("content", content, 0, 2_000)
    if len(embeds) > 10:
        raise invalid("embeds", "BASE_TYPE_MAX_LENGTH")
    total = sum(_check_embed(f"embeds.{index}", embed) for index, embed in enumerate(embeds))
    if total > 6_000:
        raise invalid("embeds", "MAX_EMBED_SIZE_EXCEEDED")
    check_rows(payload.get("components") or [])
    _length("nonce", str(payload.get("nonce") or ""), 0, 25)
    if not edit and not (content or embeds or files or payload.get("components")):
        raise DiscordError(400, 50006, "Cannot send an empty message")


def _check_embed(where: str, embed: dict[str, Any]) -> int:
    if unknown := set(embed) - EMBED_KEYS:
        raise invalid(where, f"UNKNOWN_FIELD {unknown}")
    texts = [
        _length(f"{where}.title", embed.get("title") or "", 0, 256),
        _length(f"{where}.description", embed.get("description") or "", 0, 4_096),
        _length(f"{where}.footer", (embed.get("footer") or {}).get("text", ""), 0, 2_048),
    ]
    if embed.get("url") and not _URL.fullmatch(embed["url"]):
        raise invalid(f"{where}.url", "URL_TYPE_INVALID_URL")
    fields = embed.get("fields") or []
    if len(fields) > 25:
        raise invalid(f"{where}.fields", "BASE_TYPE_MAX_LENGTH")
    for item in fields:
        texts += [
            _length(f"{where}.fields.name", item["name"], 1, 256),
            _length(f"{where}.fields.value", item["value"], 1, 1_024),
        ]
    return sum(texts)


def check_rows(rows: list[dict[str, Any]]) -> None:
    if len(rows) > 5:
        raise invalid("components", "BASE_TYPE_MAX_LENGTH")
    ids = [str(item.get("custom_id")) for item in buttons(rows)]
    if len(ids) != len(set(ids)):
        raise invalid("components", "COMPONENT_CUSTOM_ID_DUPLICATED")
    for row in rows:
        if row["type"] != 1 or not 1 <= len(row["components"]) <= 5:
            raise invalid("components", "BASE_TYPE_BAD_LENGTH")
        for item in row["components"]:
            _check_button(item)


def _check_button(item: dict[str, Any]) -> None:
    if item["type"] != 2 or item["style"] not in (1, 2, 3, 4):
        raise invalid("components", "UNION_TYPE_CHOICES")
    _length("custom_id", item["custom_id"], 1, 100)
    _length("label", item.get("label") or "", 1, 80)


def buttons(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield from row["components"]


def check_modal(data: dict[str, Any]) -> None:
    _length("title", data["title"], 1, 45)
    _length("custom_id", data["custom_id"], 1, 100)
    if not 1 <= len(data["components"]) <= 5:
        raise invalid("components", "BASE_TYPE_BAD_LENGTH")
    for label in data["components"]:
        if label["type"] != 18:
            raise invalid("components", "UNION_TYPE_CHOICES")
        _length("label", label["label"], 1, 45)
        _length("description", label.get("description") or "", 0, 100)
        _check_input(label["component"])


def _check_input(item: dict[str, Any]) -> None:
    _length("custom_id", item["custom_id"], 1, 100)
    if item["type"] == 4:
        most = item.get("max_length") or 4_000
        if most > 4_000 or (item.get("min_length") or 0) > most:
            raise invalid("max_length", "NUMBER_TYPE_MAX")
        _length("value", item.get("value") or "", 0, most)
        return
    if item["type"] != 3 or not 1 <= len(item["options"]) <= 25:
        raise invalid("components", "BASE_TYPE_BAD_LENGTH")
    for option in item["options"]:
        _length("options.label", option["label"], 1, 100)
        _length("options.value", option["value"], 1, 100)
        _length("options.description", option.get("description") or "", 0, 100)


def check_commands(commands: list[dict[str, Any]]) -> None:
    if len(commands) > 100:
        raise invalid("commands", "APPLICATION_COMMAND_TOO_MANY")
    for command in commands:
        _check_command(command, depth=0)


def _check_command(command: dict[str, Any], depth: int) -> None:
    if not re.fullmatch(r"[-_'\w]{1,32}", command["name"]) or command["name"] != command["name"].lower():
        raise invalid("name", "APPLICATION_COMMAND_INVALID_NAME")
    _length("description", command["description"], 1, 100)
    options = command.get("options") or []
    if len(options) > 25 or depth > 3:
        raise invalid("options", "BASE_TYPE_MAX_LENGTH")
    if len(command.get("choices") or []) > 25:
        raise invalid("choices", "BASE_TYPE_MAX_LENGTH")
    required = [bool(option.get("required")) for option in options]
    if required != sorted(required, reverse=True):
        raise invalid("options", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID")
    for option in options:
        _check_command(option, depth + 1)


def pings(payload: dict[str, Any], text: str) -> bool:
    """Tell whether a message would ping somebody."""
    allowed = payload.get("allowed_mentions", {"parse": ["everyone", "users", "roles"]})
    if ("@everyone" in text or "@here" in text) and "everyone" in allowed.get("parse", []):
        return True
    return bool(re.search(r"<@!?\d+>", text)) and "users" in allowed.get("parse", [])


def _length(where: str, text: str, least: int, most: int) -> int:
    if not isinstance(text, str) or not least <= len(text) <= most:
        raise invalid(where, f"BASE_TYPE_BAD_LENGTH {len(text)} not in {least}..{most}")
    return len(text)
