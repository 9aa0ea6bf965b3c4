"""The slash commands, `/rejoinder …`: what may be typed, with suggestions; `bot.chat.commands` carries them out.

Every command is acknowledged first and answered to the one who typed it alone.
"""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable, Mapping, Sequence

import discord
from discord import app_commands

from bot.chat.cards import GROUP_NAMES, build_card, evidence_line
from bot.chat.commands import Commands, Place, Reply
from bot.chat.defuse import defuse
from bot.chat.pipeline_cli import PipelineCli
from bot.desk import Moderator
from bot.discord.forms import INTENT_LABELS
from bot.discord.interactions import Interaction, answering, asking_moderator, in_flight, member_moderator
from bot.discord.render import card_embed, card_view, evidence_embeds
from bot.discord.text import MAX_CONTENT, escaped
from core.domain import CaseState, Evidence, Intent, TargetGroup
from core.errors import BadInput
from core.settings import ChatWorkspace
from ledger import Ledger
from ledger.moderator_settings import ScopeKind

MAX_CHOICES = 25
GROUPS = [app_commands.Choice(name=GROUP_NAMES[group], value=group.value) for group in TargetGroup]
INTENTS = [app_commands.Choice(name=INTENT_LABELS[intent], value=intent.value) for intent in Intent]
PERIODS = [app_commands.Choice(name=name, value=value) for name, value in
           (("a day", "1d"), ("a week", "7d"), ("four weeks", "4w"))]  # fmt: skip
HELP = (
    "queue: open cases, oldest first", "case: one case with its buttons", "intent show, intent set: the tone of drafts",
    "draft: answer a text, only for you", "evidence: search the knowledge base", "stats: figures and a picture",
    "pause, resume: keep new cards from this channel", "assign: give somebody a case",
    "mute-source: keep a platform's cards away", "hide: leave a group out of your own queue",
    "export: decisions as a table", "settings: how this server is used",
)  # fmt: skip

Work = Callable[[Moderator, Place], Awaitable[Reply]]


class SlashCommands(app_commands.Group):
    """The commands below `/rejoinder`."""

    def __init__(
        self, commands: Commands, ledger: Ledger, servers: Mapping[str, ChatWorkspace], pipeline_cli: PipelineCli
    ) -> None:
        super().__init__(name="rejoinder", description="Answer flagged hate with evidence", guild_only=True)
        self._desk_commands = commands
        self._ledger = ledger
        self._servers = servers
        self._pipeline_cli = pipeline_cli
        self.add_command(IntentGroup(self))

    async def answer(self, interaction: Interaction, work: Work) -> None:
        """Acknowledge, do, and answer privately."""
        async with answering(interaction):
            who = asking_moderator(interaction, self._servers)
            await interaction.response.defer(ephemeral=True, thinking=True)
            place = Place("discord", str(interaction.guild_id), str(interaction.channel_id))
            await self._show(interaction, await work(who, place))

    @app_commands.command(description="Open cases, oldest first")
    @app_commands.describe(group="Only cases against this group", mine="Only cases you hold or were assigned")
    @app_commands.choices(group=GROUPS)
    async def queue(self, interaction: discord.Interaction, group: str | None = None, mine: bool = False) -> None:
        """List open cases."""
        target = TargetGroup(group) if group else None
        await self.answer(interaction, lambda who, _: self._desk_commands.queue(who, group=target, mine=mine))

    @app_commands.command(description="One case, with its buttons")
    @app_commands.describe(case="The number on its card, or platform/post id")
    async def case(self, interaction: discord.Interaction, case: str) -> None:
        """Show a case."""
        await self.answer(interaction, lambda _, __: self._desk_commands.case(case))

    @app_commands.command(description="Draft an answer to a text; only you see it")
    @app_commands.describe(text="The post to answer", intent="What the answer sets out to do")
    @app_commands.choices(intent=INTENTS)
    async def draft(
        self, interaction: discord.Interaction, text: app_commands.Range[str, 1, 3000], intent: str | None = None
    ) -> None:
        """Draft privately."""
        async with answering(interaction):
            asking_moderator(interaction, self._servers)
            await interaction.response.defer(ephemeral=True, thinking=True)
            draft, grounding, reason = await self._pipeline_cli.draft(text, Intent(intent) if intent else None)
            words = draft.text or draft.note if draft else f"No draft: {reason}"
            await self._show_evidence(interaction, words, grounding.evidence if grounding else ())

    @app_commands.command(description="Search the knowledge base")
    @app_commands.describe(query="What to look for", group="Only evidence about this group")
    @app_commands.choices(group=GROUPS)
    async def evidence(
        self, interaction: discord.Interaction, query: app_commands.Range[str, 1, 1000], group: str | None = None
    ) -> None:
        """Search evidence."""
        async with answering(interaction):
            asking_moderator(interaction, self._servers)
            await interaction.response.defer(ephemeral=True, thinking=True)
            evidence = await self._pipeline_cli.evidence(query, TargetGroup(group) if group else None)
            words = f"{len(evidence)} statements for: {query}" if evidence else "Nothing fits. Try other words."
            await self._show_evidence(interaction, words, evidence)

    @app_commands.command(description="Figures of a period, with a picture")
    @app_commands.describe(period="For example 24h, 7d or 2w")
    async def stats(self, interaction: discord.Interaction, period: str = "7d") -> None:
        """Show figures."""
        await self.answer(interaction, lambda _, __: self._desk_commands.stats(period))

    @app_commands.command(description="Keep new cards from this channel")
    @app_commands.describe(hours="For how long; left out: until somebody resumes it")
    async def pause(
        self, interaction: discord.Interaction, hours: app_commands.Range[float, 0, 8760] | None = None
    ) -> None:
        """Pause this channel."""
        await self.answer(
            interaction, lambda who, place: self._desk_commands.pause(place, who, on=True, hours=hours or None)
        )

    @app_commands.command(description="Let cards into this channel again")
    async def resume(self, interaction: discord.Interaction) -> None:
        """Resume this channel."""
        await self.answer(interaction, lambda who, place: self._desk_commands.pause(place, who, on=False))

    @app_commands.command(description="Say who should take care of a case")
    @app_commands.describe(case="The number on its card", member="Who; left out: you")
    async def assign(self, interaction: discord.Interaction, case: str, member: discord.Member | None = None) -> None:
        """Assign a case."""

        async def work(who: Moderator, place: Place) -> Reply:
            whom = member_moderator(member, self._servers[place.server]) if member else who
            return await self._desk_commands.assign(who, case, whom)

        await self.answer(interaction, work)

    @app_commands.command(name="mute-source", description="Keep a platform's cards from this server")
    @app_commands.describe(platform="As the cards name it", muted="False lets them in again", hours="For how long")
    async def mute_source(
        self, interaction: discord.Interaction, platform: str, muted: bool = True,
        hours: app_commands.Range[float, 0, 8760] | None = None,
    ) -> None:  # fmt: skip
        """Mute a platform."""
        await self.answer(
            interaction,
            lambda who, place: self._desk_commands.mute(place, who, platform, on=muted, hours=hours or None),
        )

    @app_commands.command(description="Leave a group out of your own queue; nobody else is told")
    @app_commands.choices(group=GROUPS)
    async def hide(self, interaction: discord.Interaction, group: str, hidden: bool = True) -> None:
        """Hide a group from oneself."""
        await self.answer(interaction, lambda who, _: self._desk_commands.hide(who, TargetGroup(group), hidden=hidden))

    @app_commands.command(description="The decisions of a period as a table, without the posts")
    @app_commands.describe(period="For example 24h, 7d or 2w")
    async def export(self, interaction: discord.Interaction, period: str = "4w") -> None:
        """Export decisions."""
        await self.answer(interaction, lambda who, _: self._desk_commands.export(who, period))

    @app_commands.command(description="How this server is used")
    async def settings(self, interaction: discord.Interaction) -> None:
        """Show the settings."""
        await self.answer(interaction, lambda _, place: self._desk_commands.settings(place))

    @app_commands.command(description="What can be typed here")
    async def help(self, interaction: discord.Interaction) -> None:
        """List the commands."""

        async def work(_: Moderator, __: Place) -> Reply:
            return Reply(HELP)

        await self.answer(interaction, work)

    @case.autocomplete("case")
    @assign.autocomplete("case")
    async def _open_cases(self, interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        with in_flight(interaction):
            page = await self._ledger.cases.page(states=[CaseState.PENDING], limit=50)
            cases = [(str(await self._ledger.cards.number(case.key)), case) for case in page.cases]
        return [
            app_commands.Choice(name=defuse(f"#{number} {build_card(case).title}", 100), value=number)
            for number, case in cases
            if number.startswith(typed.strip().removeprefix("#"))
        ][:MAX_CHOICES]

    @stats.autocomplete("period")
    @export.autocomplete("period")
    async def _periods(self, interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        return [choice for choice in PERIODS if typed in choice.value] or PERIODS

    @mute_source.autocomplete("platform")
    async def _platforms(self, interaction: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
        with in_flight(interaction):
            page = await self._ledger.cases.page(limit=200, oldest_first=False)
        names = dict.fromkeys(case.post.platform for case in page.cases)
        return [app_commands.Choice(name=name, value=name) for name in names if typed.lower() in name.lower()][
            :MAX_CHOICES
        ]

    async def _show(self, interaction: Interaction, reply: Reply) -> None:
        embeds, view, files = [], None, []
        if reply.case is not None:
            card, number = build_card(reply.case), await self._ledger.cards.number(reply.case.key)
            embeds, view = [card_embed(card, number)], card_view(card, number)
        if reply.attachment is not None:
            files = [discord.File(io.BytesIO(reply.attachment.data), reply.attachment.name)]
        await interaction.edit_original_response(
            content=escaped("\n".join(reply.lines), MAX_CONTENT) or None, embeds=embeds, view=view, attachments=files
        )

    async def _show_evidence(self, interaction: Interaction, words: str, evidence: Sequence[Evidence]) -> None:
        embeds = evidence_embeds([evidence_line(item) for item in evidence])
        await interaction.edit_original_response(content=escaped(defuse(words, 1_500), MAX_CONTENT), embeds=embeds)


class IntentGroup(app_commands.Group):
    """The commands below `/rejoinder intent`."""

    def __init__(self, slash: SlashCommands) -> None:
        super().__init__(name="intent", description="What drafts set out to do")
        self._slash = slash

    @app_commands.command(description="The intents set here, by whom and when")
    async def show(self, interaction: discord.Interaction) -> None:
        """List intents."""
        await self._slash.answer(interaction, lambda _, place: self._slash._desk_commands.show_intents(place))

    @app_commands.command(description="Set the intent of new drafts; the narrowest that fits a case holds")
    @app_commands.describe(
        intent="What drafts set out to do; left out: clears it", group="For cases against this group",
        language="For posts in this language, for example es", channel="For cases of this channel",
    )  # fmt: skip
    @app_commands.choices(intent=INTENTS, group=GROUPS)
    async def set(
        self, interaction: discord.Interaction, intent: str | None = None, group: str | None = None,
        language: str | None = None, channel: discord.TextChannel | None = None,
    ) -> None:  # fmt: skip
        """Set an intent for the server, or for what is named."""

        async def work(who: Moderator, place: Place) -> Reply:
            kind, name = _scope(group, language, channel)
            chosen = Intent(intent) if intent else None
            return await self._slash._desk_commands.set_intent(place, who, chosen, kind, name)

        await self._slash.answer(interaction, work)


def _scope(group: str | None, language: str | None, channel: discord.TextChannel | None) -> tuple[ScopeKind, str]:
    if sum(item is not None for item in (group, language, channel)) > 1:
        raise BadInput("Name one of group, language and channel; each has an intent of its own.")
    if group is not None:
        return ScopeKind.GROUP, group
    if language is not None:
        return ScopeKind.LANGUAGE, language
    if channel is not None:
        return ScopeKind.CHANNEL, str(channel.id)
    return ScopeKind.SERVER, ""
