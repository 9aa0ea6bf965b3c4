"""The forms (modals) behind Edit, Reject and Redraft, and what somebody put into them.

A form's id says what it is about, like a button's, so that a form opened before a restart can be sent after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import discord

from bot.discord.buttons import Press
from bot.reasons import REASONS
from core.domain import Intent

LIFETIME_S = 900.0
"""After this Discord takes no answer to the press that opened a form (15 minutes)."""
MAX_INPUT = 4_000
MAX_WORDS = 400

INTENT_LABELS = {
    Intent.INFORMATIVE: "informative: states a fact",
    Intent.QUESTIONING: "questioning: asks",
    Intent.DENOUNCING: "denouncing: names the harm",
    Intent.POSITIVE: "positive: affirms people's worth",
}


def edit_form(press: Press, text: str) -> discord.ui.Modal:
    """Return the form with the draft in it."""
    return _form(
        press,
        "Edit the reply",
        discord.ui.Label(
            text="Reply",
            description="Checked when you send it; goes out exactly as you write it.",
            component=discord.ui.TextInput(
                custom_id="text", style=discord.TextStyle.paragraph, default=text[:MAX_INPUT] or None,
                max_length=MAX_INPUT,
            ),
        ),
    )  # fmt: skip


def reject_form(press: Press) -> discord.ui.Modal:
    """Return the form that asks why."""
    options = [discord.SelectOption(label=reason.label[:100], value=reason.code) for reason in REASONS]
    return _form(
        press,
        "Reject the draft",
        discord.ui.Label(text="Reason", component=discord.ui.Select(custom_id="reason", options=options)),
        _words("In your own words", "words"),
    )


def redraft_form(press: Press) -> discord.ui.Modal:
    """Return the form that asks for another draft."""
    options = [discord.SelectOption(label=INTENT_LABELS[intent], value=intent) for intent in Intent]
    return _form(
        press,
        "Ask for another draft",
        discord.ui.Label(text="Intent", component=discord.ui.Select(custom_id="intent", options=options)),
        _words("Hint for the writer", "hint"),
    )


def answers(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what was put into a form, by the fields' ids."""
    return dict(_fields(data.get("components", ())))


def _fields(components: Any) -> Iterator[tuple[str, str]]:
    for item in components:
        if "component" in item:
            yield from _fields([item["component"]])
        elif "components" in item:
            yield from _fields(item["components"])
        elif "values" in item:
            yield item["custom_id"], next(iter(item["values"]), "")
        elif "value" in item:
            yield item["custom_id"], item["value"] or ""


def _form(press: Press, title: str, *labels: discord.ui.Label[Any]) -> discord.ui.Modal:
    form = discord.ui.Modal(title=title, custom_id=press.id, timeout=LIFETIME_S)
    for label in labels:
        form.add_item(label)
    return form


def _words(label: str, field: str) -> discord.ui.Label[Any]:
    text = discord.ui.TextInput[Any](
        custom_id=field, style=discord.TextStyle.paragraph, required=False, max_length=MAX_WORDS
    )
    return discord.ui.Label(text=label, component=text)
