"""The slash commands, `/rejoinder …`, with suggestions while typing; `bot.chat.commands` implements them.

Every command is acknowledged first, and its answer is visible only to the person who typed it.
"""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import discord
from discord import app_commands

from bot.chat.cards import build_card
from bot.chat.command_answer import CommandAnswer
from bot.chat.command_help import COMMANDS, help_lines
from bot.chat.commands import Commands
from bot.chat.defuse import defuse
from bot.chat.languages import Languages
from bot.chat.place import Place
from bot.discord.board import SURFACE
from bot.discord.interactions import (
    Interaction,
    answering,
    asking_moderator,
    in_flight,
    language_of,
    member_moderator,
    server_id,
)
from bot.discord.localised import choices
from bot.discord.render import card_embed, card_view, evidence_embeds
from bot.discord.text import MAX_CONTENT, escaped
from bot.permissions import Moderator
from bot.translation import LANGUAGES, N_, Wordings, speaking
from bot.wording import GROUP_WORDS, intent_label, strategy_label
from core.domain import Action, Intent, StrategyName, TargetGroup
from core.errors import Forbidden
from core.settings import ChatWorkspace
from ledger.cards import Cards
from ledger.moderator_settings import ScopeKind

MAX_CHOICES = 25
CASE = N_("The number on its card, or platform/post id")
GROUPS = choices({group: partial(GROUP_WORDS.__getitem__, group) for group in TargetGroup})
INTENTS = choices({intent: partial(intent_label, intent) for intent in Intent})
STRATEGIES = choices({name: partial(strategy_label, name) for name in StrategyName})
LANGUAGE_NAMES = [app_commands.Choice(name=name, value=code) for code, name in LANGUAGES.items()]
PERIODS = Wordings({"1d": N_("a day"), "7d": N_("a week"), "4w": N_("four weeks")})
Work = Callable[[Moderator, Place], Awaitable[CommandAnswer]]


def _place(interaction: Interaction) -> Place:
    return Place(SURFACE, server_id(interaction), str(interaction.channel_id))


def _description(command: str) -> str:
    return COMMANDS[command].does


class SlashCommands(app_commands.Group):
    """The commands below `/rejoinder`."""

    def __init__(
        self, commands: Commands, cards: Cards, servers: Mapping[str, ChatWorkspace], languages: Languages
    ) -> None:
        super().__init__(name="rejoinder", description=N_("Answer flagged hate with evidence"), guild_only=True)
        self._desk_commands = commands
        self._cards = cards
        self._servers = servers
        self._languages = languages
        self.add_command(IntentGroup(self))

    async def answer(self, interaction: Interaction, work: Work) -> None:
        """Acknowledge, do the work, and answer privately."""
        async with answering(interaction, self._languages):
            who = asking_moderator(interaction, self._servers)
            await interaction.response.defer(ephemeral=True, thinking=True)
            await self._show(interaction, await work(who, _place(interaction)))

    @app_commands.command(description=_description("queue"))
    @app_commands.describe(
        group=N_("Only cases against this group"), mine=N_("Only cases you hold or were assigned"),
        doubtful=N_("Only posts of which nobody knows yet whether they are hateful"),
        appeals=N_("Only closed cases against which somebody has appealed"),
    )  # fmt: skip
    @app_commands.choices(group=GROUPS)
    async def queue(
        self, interaction: discord.Interaction, group: str | None = None, mine: bool = False, doubtful: bool = False,
        appeals: bool = False,
    ) -> None:  # fmt: skip
        """List open cases."""
        target = TargetGroup(group) if group else None

        async def work(who: Moderator, place: Place) -> CommandAnswer:
            return await self._desk_commands.queue(
                place, who, group=target, mine=mine, doubtful=doubtful, appeals=appeals
            )

        await self.answer(interaction, work)

    @app_commands.command(description=_description("case"))
    @app_commands.describe(case=CASE)
    async def case(self, interaction: discord.Interaction, case: str) -> None:
        """Show a case."""
        await self.answer(interaction, lambda _, place: self._desk_commands.case(place, case))

    @app_commands.command(description=_description("dismiss"))
    @app_commands.describe(case=CASE)
    async def dismiss(self, interaction: discord.Interaction, case: str) -> None:
        """Dismiss a case."""
        await self.answer(interaction, lambda who, place: self._desk_commands.dismiss(place, who, case))

    @app_commands.command(description=_description("redraft"))
    @app_commands.describe(case=CASE, by=N_("In which way, where it is offered"))
    @app_commands.choices(by=STRATEGIES)
    async def redraft(self, interaction: discord.Interaction, case: str, by: str | None = None) -> None:
        """Ask for another draft."""
        chosen = StrategyName(by) if by else None
        await self.answer(interaction, lambda who, place: self._desk_commands.redraft(place, who, case, chosen))

    @app_commands.command(description=_description("reopen"))
    @app_commands.describe(case=CASE, why=N_("Why, if there is more to say"))
    async def reopen(
        self, interaction: discord.Interaction, case: str, why: app_commands.Range[str, 0, 400] = ""
    ) -> None:
        """Open a case again."""
        await self._after_the_end(interaction, Action.REOPEN, case, why)

    @app_commands.command(name="hand-over", description=_description("hand-over"))
    @app_commands.describe(case=CASE, reason=N_("To whom, and why"))
    async def hand_over(
        self, interaction: discord.Interaction, case: str, reason: app_commands.Range[str, 1, 400]
    ) -> None:
        """Hand a case over."""
        await self._after_the_end(interaction, Action.HAND_OVER, case, reason)

    @app_commands.command(description=_description("handled"))
    @app_commands.describe(case=CASE, what=N_("What was done"))
    async def handled(
        self, interaction: discord.Interaction, case: str, what: app_commands.Range[str, 0, 400] = ""
    ) -> None:
        """Mark a case as handled."""
        await self._after_the_end(interaction, Action.HANDLE, case, what)

    @app_commands.command(description=_description("retract"))
    @app_commands.describe(case=CASE, reason=N_("Why; the platform is told so"))
    async def retract(
        self, interaction: discord.Interaction, case: str, reason: app_commands.Range[str, 1, 400]
    ) -> None:
        """Retract a reply."""
        await self._after_the_end(interaction, Action.RETRACT, case, reason)

    @app_commands.command(description=_description("note"))
    @app_commands.describe(case=CASE, text=N_("What everybody should know who works on it"))
    async def note(self, interaction: discord.Interaction, case: str, text: app_commands.Range[str, 1, 2000]) -> None:
        """Add a note."""
        await self.answer(interaction, lambda who, place: self._desk_commands.note(place, who, case, text))

    async def _after_the_end(self, interaction: discord.Interaction, action: Action, case: str, words: str) -> None:
        await self.answer(
            interaction, lambda who, place: self._desk_commands.after_the_end(place, who, action, case, words)
        )

    @app_commands.command(description=_description("draft"))
    @app_commands.describe(text=N_("The post to answer"), intent=N_("What the answer sets out to do"))
    @app_commands.choices(intent=INTENTS)
    async def draft(
        self, interaction: discord.Interaction, text: app_commands.Range[str, 1, 3000], intent: str | None = None
    ) -> None:
        """Draft privately."""
        chosen = Intent(intent) if intent else None
        await self.answer(interaction, lambda _, __: self._desk_commands.draft(text, chosen))

    @app_commands.command(description=_description("evidence"))
    @app_commands.describe(query=N_("What to look for"), group=N_("Only evidence about this group"))
    @app_commands.choices(group=GROUPS)
    async def evidence(
        self, interaction: discord.Interaction, query: app_commands.Range[str, 1, 1000], group: str | None = None
    ) -> None:
        """Search evidence."""
        target = TargetGroup(group) if group else None
        await self.answer(interaction, lambda _, __: self._desk_commands.evidence(query, target))

    @app_commands.command(description=_description("stats"))
    @app_commands.describe(period=N_("For example 24h, 7d or 2w"))
    async def stats(self, interaction: discord.Interaction, period: str = "7d") -> None:
        """Show figures."""
        await self.answer(interaction, lambda _, place: self._desk_commands.stats(place, period))

    @app_commands.command(description=_description("pause"))
    @app_commands.describe(hours=N_("For how long; left out: until somebody resumes it"))
    async def pause(
        self, interaction: discord.Interaction, hours: app_commands.Range[float, 0, 8760] | None = None
    ) -> None:
        """Pause this channel."""
        await self.answer(interaction, lambda who, place: self._desk_commands.pause(place, who, on=True, hours=hours))

    @app_commands.command(description=_description("resume"))
    async def resume(self, interaction: discord.Interaction) -> None:
        """Resume this channel."""
        await self.answer(interaction, lambda who, place: self._desk_commands.pause(place, who, on=False))

    @app_commands.command(description=_description("assign"))
    @app_commands.describe(case=N_("The number on its card"), member=N_("Who; left out: you"))
    async def assign(self, interaction: discord.Interaction, case: str, member: discord.Member | None = None) -> None:
        """Assign a case."""

        async def work(who: Moderator, place: Place) -> CommandAnswer:
            whom = member_moderator(member, self._servers[place.server]) if member else who
            return await self._desk_commands.assign(place, who, case, whom)

        await self.answer(interaction, work)

    @app_commands.command(name="mute-source", description=_description("mute-source"))
    @app_commands.describe(
        platform=N_("As the cards name it"), muted=N_("False lets them in again"), hours=N_("For how long")
    )
    async def mute_source(
        self, interaction: discord.Interaction, platform: str, muted: bool = True,
        hours: app_commands.Range[float, 0, 8760] | None = None,
    ) -> None:  # fmt: skip
        """Mute a platform."""
        await self.answer(
            interaction,
            lambda who, place: self._desk_commands.mute(place, who, platform, on=muted, hours=hours),
        )

    @app_commands.command(description=_description("hide"))
    @app_commands.choices(group=GROUPS)
    async def hide(self, interaction: discord.Interaction, group: str, hidden: bool = True) -> None:
        """Hide a group from oneself."""
        await self.answer(interaction, lambda who, _: self._desk_commands.hide(who, TargetGroup(group), hidden=hidden))

    @app_commands.command(description=_description("language"))
    @app_commands.describe(language=N_("Left out: the language of your app or browser, where it is offered"))
    @app_commands.choices(language=LANGUAGE_NAMES)
    async def language(self, interaction: discord.Interaction, language: str | None = None) -> None:
        """Choose one's own language."""
        await self.answer(interaction, lambda who, _: self._desk_commands.language(who, language))

    @app_commands.command(description=_description("export"))
    @app_commands.describe(period=N_("For example 24h, 7d or 2w"))
    async def export(self, interaction: discord.Interaction, period: str = "4w") -> None:
        """Export decisions."""
        await self.answer(interaction, lambda who, place: self._desk_commands.export(place, who, period))

    @app_commands.command(description=_description("settings"))
    async def settings(self, interaction: discord.Interaction) -> None:
        """Show the settings."""
        await self.answer(interaction, lambda _, place: self._desk_commands.settings(place))

    @app_commands.command(description=_description("help"))
    async def help(self, interaction: discord.Interaction) -> None:
        """List the commands."""

        async def work(_: Moderator, __: Place) -> CommandAnswer:
            return CommandAnswer(help_lines({}))

        await self.answer(interaction, work)

    @case.autocomplete("case")
    @dismiss.autocomplete("case")
    @assign.autocomplete("case")
    async def _open_cases(self, interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        if (place := self._suggest_at(interaction)) is None:
            return []
        with in_flight(interaction), speaking(language_of(interaction, self._languages)):
            cases = await self._desk_commands.suggested_cases(place, typed)
            return [
                app_commands.Choice(name=defuse(f"#{number} {build_card(case).title}", 100), value=str(number))
                for number, case in cases[:MAX_CHOICES]
            ]

    @stats.autocomplete("period")
    @export.autocomplete("period")
    async def _periods(self, interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        with speaking(language_of(interaction, self._languages)):
            offered = [app_commands.Choice(name=name, value=value) for value, name in PERIODS.items()]
        return [choice for choice in offered if typed in choice.value] or offered

    @mute_source.autocomplete("platform")
    async def _platforms(self, interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        if (place := self._suggest_at(interaction)) is None:
            return []
        with in_flight(interaction):
            names = await self._desk_commands.suggested_platforms(place, typed)
        return [app_commands.Choice(name=name, value=name) for name in names[:MAX_CHOICES]]

    def _suggest_at(self, interaction: Interaction) -> Place | None:
        """Return where somebody is typing, or None if they have no rights there and get no suggestions."""
        try:
            asking_moderator(interaction, self._servers)
        except Forbidden:
            return None
        return _place(interaction)

    async def _show(self, interaction: Interaction, answer: CommandAnswer) -> None:
        embeds, view, files = evidence_embeds(answer.evidence), None, []
        if answer.case is not None:
            card, number = build_card(answer.case), await self._cards.number_of(answer.case.key)
            embeds, view = [card_embed(card, number)], card_view(card, number)
        if answer.attachment is not None:
            files = [discord.File(io.BytesIO(answer.attachment.data), answer.attachment.name)]
        words = "\n".join(filter(None, [*answer.lines, answer.quote]))
        await interaction.edit_original_response(
            content=escaped(words, MAX_CONTENT) or None, embeds=embeds, view=view, attachments=files
        )


class IntentGroup(app_commands.Group):
    """The commands below `/rejoinder intent`."""

    def __init__(self, slash: SlashCommands) -> None:
        super().__init__(name="intent", description=N_("What drafts set out to do"))
        self._slash = slash

    @app_commands.command(description=_description("intent show"))
    async def show(self, interaction: discord.Interaction) -> None:
        """List intents."""
        await self._slash.answer(interaction, lambda _, place: self._slash._desk_commands.show_intents(place))

    @app_commands.command(description=_description("intent set"))
    @app_commands.describe(
        intent=N_("What drafts set out to do; left out: clears it"), group=N_("For cases against this group"),
        language=N_("For posts in this language, for example es"), channel=N_("For cases of this channel"),
    )  # fmt: skip
    @app_commands.choices(intent=INTENTS, group=GROUPS)
    async def set(
        self, interaction: discord.Interaction, intent: str | None = None, group: str | None = None,
        language: str | None = None, channel: discord.TextChannel | None = None,
    ) -> None:  # fmt: skip
        """Set an intent for the server, or for what is named."""

        async def work(who: Moderator, place: Place) -> CommandAnswer:
            scopes = {
                ScopeKind.GROUP: group,
                ScopeKind.LANGUAGE: language,
                ScopeKind.CHANNEL: str(channel.id) if channel else None,
            }
            named = {kind: name for kind, name in scopes.items() if name is not None}
            chosen = Intent(intent) if intent else None
            return await self._slash._desk_commands.set_intent(place, who, chosen, named)

        await self._slash.answer(interaction, work)
