"""Read the content of a message."""

from __future__ import annotations

from typing import Any


def labels(message: dict[str, Any]) -> list[str]:
    return [item["label"] for row in message["components"] for item in row["components"]]


def field(message: dict[str, Any], name: str) -> str:
    values = [item["value"] for item in message["embeds"][0]["fields"] if item["name"].startswith(name)]
    return str(values[0]) if values else ""


def cards(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message for message in messages if message["embeds"]]
