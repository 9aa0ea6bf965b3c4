"""The descriptions and choices of the slash commands, in each language that both Discord and the catalogue know.

Discord gets them all when the commands are registered, and shows each person those of their client. The names of the
commands and their options stay English everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import discord
from discord import app_commands
from discord.app_commands import TranslationContextLocation

from bot.translation import SOURCE_LANGUAGE, _, offered, speaking

_NAMES = (
    TranslationContextLocation.command_name,
    TranslationContextLocation.group_name,
    TranslationContextLocation.parameter_name,
)


class Localised(app_commands.Translator):
    """The catalogue as Discord's library asks it. A text may bring a function `say` that says it in any language."""

    async def translate(
        self, string: app_commands.locale_str, locale: discord.Locale, context: app_commands.TranslationContextTypes
    ) -> str | None:
        """Return a text in the language of a locale; None where it has none, and for names."""
        language = offered(locale.value)
        if language in (None, SOURCE_LANGUAGE) or context.location in _NAMES:
            return None
        with speaking(language):
            say: Callable[[], str] | None = string.extras.get("say")
            return say() if say else _(string.message)


def choices(labels: Mapping[str, Callable[[], str]]) -> list[app_commands.Choice[str]]:
    """Return a choice for each value, labelled in every language by what its function says."""
    return [
        app_commands.Choice(name=app_commands.locale_str(say(), say=say), value=str(value))
        for value, say in labels.items()
    ]
