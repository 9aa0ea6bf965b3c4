from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.chat.command_help import COMMANDS, help_lines
from bot.discord.slash import IntentGroup, SlashCommands

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("page", ["discord.md", "slack.md"])
@pytest.mark.parametrize(("name", "leads"), [(name, command.leads) for name, command in COMMANDS.items()])
def test_the_pages_name_every_command_and_say_what_is_for_leads(page: str, name: str, leads: bool) -> None:
    lines = (DOCS / page).read_text().splitlines()
    row = next(line for line in lines if re.match(rf"\|[^|]*`{name}[ `]", line))
    assert not leads or "(leads)" in row


def test_help_says_how_each_is_typed_and_who_may() -> None:
    lines = help_lines({"pause": "pause [hours:2]"}, "/rejoinder ")
    assert "/rejoinder pause [hours:2]: Keep new cards from this channel; its cases wait in the queue (leads)" in lines
    assert len(lines) == len(COMMANDS)


def test_discord_has_every_command() -> None:
    own = {command.name for command in SlashCommands.__discord_app_commands_group_children__}
    inside = {f"intent {command.name}" for command in IntentGroup.__discord_app_commands_group_children__}
    assert own | inside == set(COMMANDS)
