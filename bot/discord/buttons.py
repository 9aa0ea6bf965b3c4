"""A card's buttons. Their ids contain everything a press needs, so that buttons survive a restart of the bot.

The id is `rj:action:version:number` or `rj:action:version:number:token`: the version of the case that the card shows
(for compare-and-set), the case's short number, and for a refusal the token under which it is stored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Self

import discord

from bot.chat.cards import Style

STYLES: dict[Style, discord.ButtonStyle] = {
    "good": discord.ButtonStyle.success,
    "bad": discord.ButtonStyle.danger,
    "plain": discord.ButtonStyle.secondary,
}
FORM_ID = re.compile(
    r"rj:(?P<action>[a-z_]{1,16}):(?P<version>\d{1,9}):(?P<number>\d{1,18})(?::(?P<token>[\w-]{1,32}))?"
)


@dataclass(frozen=True)
class ButtonId:
    """The meaning of a button or form: an action on a version of a case."""

    action: str
    version: int
    number: int
    token: str = ""

    @property
    def id(self) -> str:
        """Return this as a component's id, which Discord sends back on a press."""
        return f"rj:{self.action}:{self.version}:{self.number}" + (f":{self.token}" if self.token else "")

    @classmethod
    def read(cls, custom_id: str) -> Self | None:
        """Parse a component's id; None if it is not ours."""
        match = FORM_ID.fullmatch(custom_id)
        return None if match is None else cls.of(match)

    @classmethod
    def of(cls, match: re.Match[str]) -> Self:
        """Return the ButtonId in a match of FORM_ID."""
        return cls(match["action"], int(match["version"]), int(match["number"]), match["token"] or "")


class CaseButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=FORM_ID):
    """One button of a card or a refusal."""

    def __init__(self, button: ButtonId, label: str = "", style: discord.ButtonStyle = STYLES["plain"]) -> None:
        super().__init__(discord.ui.Button(label=label or button.action, style=style, custom_id=button.id))
        self.button = button

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Rebuild a button that was pressed."""
        return cls(ButtonId.of(match))

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Pass the press to the client's decisions."""
        await interaction.client.decisions.press(interaction, self.button)


def row(buttons: list[CaseButton]) -> discord.ui.View:
    """Return buttons as a view that discord.py sends but does not track; presses are recognised by their id."""
    view = discord.ui.View(timeout=None)
    for button in buttons:
        view.add_item(button)
    view.stop()
    return view
