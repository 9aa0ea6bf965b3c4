"""The descriptions and choices of the slash commands, in each language that both Discord and the catalogues have.

Discord receives them all when the commands are registered, and shows each person those in their client's language. The
names of commands and options are English everywhere.
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
    """The catalogue behind discord.py's Translator interface.

    A text's extras may include a function `say` that returns the text in the current language.
    """

    async def translate(
        self, string: app_commands.locale_str, locale: discord.Locale, context: app_commands.TranslationContextTypes
    ) -> str | None:
        """Return a text in the language of a locale; None if there is no translation, and for names."""
        language = offered(locale.value)
        if language in (None, SOURCE_LANGUAGE) or context.location in _NAMES:
            return None
        with speaking(language):
            say: Callable[[], str] | None = string.extras.get("say")
            return say() if say else _(string.message)


def choices(labels: Mapping[str, Callable[[], str]]) -> list[app_commands.Choice[str]]:
    """Return a choice for each value; its function returns the label in the current language."""
    return [
        app_commands.Choice(name=app_commands.locale_str(say(), say=say), value=str(value))
        for value, say in labels.items()
    ]
