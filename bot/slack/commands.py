"""`/rejoinder …`: each command is acknowledged at once and answered to the one who typed it alone."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.models.blocks import Block
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat.cards import build_card, evidence_line
from bot.chat.commands import Commands, Place, Reply
from bot.chat.decision_dialogue import FAULT
from bot.chat.defuse import defuse
from bot.chat.pipeline_cli import PipelineCli
from bot.desk import Moderator
from bot.slack.blocks import card_blocks, evidence_blocks, summary
from bot.slack.board import SURFACE
from bot.slack.command_text import CommandText, one_of, parse
from bot.slack.ephemeral import show_ephemeral, tell_ephemeral
from bot.slack.rich_text import escaped, line, quote, rich, words
from bot.slack.web_api import translated_errors
from bot.slack.workspaces import Workspaces
from core.domain import Intent, TargetGroup
from core.errors import BadInput, RejoinderError
from ledger.cards import Cards
from ledger.moderator_settings import ScopeKind

log = logging.getLogger(__name__)

COMMAND = "/rejoinder"
HELP = (
    "queue [mine] [group:muslims]: what waits, oldest first",
    "case 12: one case, by its number or key",
    "intent show, intent set questioning for:group group:muslims: what drafts set out to do, for:server, for:channel, "
    "for:group or for:language; intent set none … clears it",
    "draft [intent:positive] TEXT: a draft for any text, shown to you alone",
    "evidence [group:women] QUERY: what the knowledge base says",
    "pause [hours:2], resume: no new cards in this channel, or cards again",
    "assign 12 @ana: who should take care of a case",
    "mute-source PLATFORM [hours:2], unmute-source PLATFORM",
    "hide GROUP, unhide GROUP: leave a group out of your own queue; nobody else is told",
    "stats [7d]: figures of a period, with a picture; export [4w]: its decisions as a table",
    "settings, help",
)
_WAITING = "Working on it; that can take a minute."


@dataclass(frozen=True)
class CommandCall:
    """A typed command, with who typed it and where."""

    command: CommandText
    who: Moderator
    place: Place
    user: str
    client: AsyncWebClient
    respond: AsyncRespond


class SlashCommands:
    """The answers to `/rejoinder`."""

    def __init__(self, commands: Commands, pipeline_cli: PipelineCli, cards: Cards, workspaces: Workspaces) -> None:
        self._commands = commands
        self._pipeline_cli = pipeline_cli
        self._cards = cards
        self._workspaces = workspaces
        self._known: dict[str, Callable[[CommandCall], Awaitable[Reply | None]]] = {
            "help": self._help, "queue": self._queue, "case": self._case, "intent": self._intent,
            "draft": self._draft, "evidence": self._evidence, "pause": self._pause, "resume": self._resume,
            "assign": self._assign, "mute-source": self._mute, "unmute-source": self._unmute, "hide": self._hide,
            "unhide": self._unhide, "settings": self._settings, "export": self._export, "stats": self._stats,
        }  # fmt: skip

    @property
    def names(self) -> tuple[str, ...]:
        """Return every command."""
        return tuple(self._known)

    def add_to(self, app: AsyncApp) -> None:
        """Listen to the command."""
        app.command(COMMAND)(self._listen)

    async def _listen(
        self, ack: AsyncAck, command: dict[str, Any], client: AsyncWebClient, respond: AsyncRespond
    ) -> None:
        await ack()
        try:
            call = await self._call(command, client, respond)
            handle = self._known.get(call.command.name)
            if handle is None:
                raise BadInput(f"There is no command {call.command.name[:40]!r}; try {COMMAND} help.")
            reply = await handle(call)
            if reply is not None:
                await self._answer(call, reply)
        except RejoinderError as error:
            await tell_ephemeral(respond, str(error))
        except Exception:
            log.exception("A command in Slack could not be carried out")
            await tell_ephemeral(respond, FAULT)

    async def _call(self, command: dict[str, Any], client: AsyncWebClient, respond: AsyncRespond) -> CommandCall:
        team, user = command["team_id"], command["user_id"]
        who = await self._workspaces.who(team, user, command.get("user_name", "somebody"))
        place = Place(SURFACE, team, command["channel_id"])
        return CommandCall(parse(command.get("text") or ""), who, place, user, client, respond)

    async def _answer(self, call: CommandCall, reply: Reply) -> None:
        if reply.attachment is not None:
            await _send_file(call, reply)
        blocks: list[Block] = [rich(*(line(words(item)) for item in reply.lines))] if reply.lines else []
        text = escaped("\n".join(reply.lines))
        if reply.case is not None:
            card = build_card(reply.case)
            blocks += card_blocks(card, await self._cards.number(reply.case.key))
            text = text or summary(card)
        await show_ephemeral(call.respond, text, blocks)

    async def _help(self, call: CommandCall) -> Reply:
        return Reply(tuple(f"{COMMAND} {item}" for item in HELP))

    async def _queue(self, call: CommandCall) -> Reply:
        group = call.command.option("group", TargetGroup)
        return await self._commands.queue(call.who, group=group, mine=call.command.word() == "mine")

    async def _case(self, call: CommandCall) -> Reply:
        return await self._commands.case(call.command.rest)

    async def _intent(self, call: CommandCall) -> Reply:
        match call.command.rest.split():
            case [] | ["show"]:
                return await self._commands.show_intents(call.place)
            case ["set", name]:
                intent = None if name.lower() == "none" else one_of(Intent, name)
                kind = call.command.option("for", ScopeKind) or ScopeKind.CHANNEL
                scope = call.command.options.get(kind, "")
                return await self._commands.set_intent(call.place, call.who, intent, kind, scope)
        raise BadInput(f"Type {COMMAND} intent show, or {COMMAND} intent set questioning for:group group:muslims")

    async def _draft(self, call: CommandCall) -> None:
        await show_ephemeral(call.respond, _WAITING, [])
        draft, grounding, reason = await self._pipeline_cli.draft(
            call.command.rest, call.command.option("intent", Intent)
        )
        if draft is None or not draft.text:
            await tell_ephemeral(call.respond, f"No draft: {draft.note if draft and draft.note else reason}")
            return
        sources = [evidence_line(item) for item in (grounding.evidence if grounding else ())]
        text = defuse(draft.text, 1_000)
        await show_ephemeral(call.respond, escaped(text), [rich(quote(text)), *evidence_blocks(sources)])

    async def _evidence(self, call: CommandCall) -> Reply | None:
        await show_ephemeral(call.respond, _WAITING, [])
        evidence = await self._pipeline_cli.evidence(call.command.rest, call.command.option("group", TargetGroup))
        if not evidence:
            return Reply(("No fitting evidence. Try other words, or without a group.",))
        await show_ephemeral(call.respond, "Evidence", evidence_blocks([evidence_line(item) for item in evidence]))
        return None

    async def _pause(self, call: CommandCall) -> Reply:
        return await self._commands.pause(call.place, call.who, on=True, hours=call.command.hours())

    async def _resume(self, call: CommandCall) -> Reply:
        return await self._commands.pause(call.place, call.who, on=False)

    async def _assign(self, call: CommandCall) -> Reply:
        if call.command.person is None:
            raise BadInput(f"To whom? Type {COMMAND} assign 12 @name, and pick the name from Slack's list.")
        assignee = await self._workspaces.who(call.place.server, *call.command.person)
        return await self._commands.assign(call.who, call.command.word(), assignee)

    async def _mute(self, call: CommandCall) -> Reply:
        return await self._commands.mute(call.place, call.who, call.command.rest, on=True, hours=call.command.hours())

    async def _unmute(self, call: CommandCall) -> Reply:
        return await self._commands.mute(call.place, call.who, call.command.rest, on=False)

    async def _hide(self, call: CommandCall) -> Reply:
        return await self._commands.hide(call.who, one_of(TargetGroup, call.command.rest), hidden=True)

    async def _unhide(self, call: CommandCall) -> Reply:
        return await self._commands.hide(call.who, one_of(TargetGroup, call.command.rest), hidden=False)

    async def _settings(self, call: CommandCall) -> Reply:
        return await self._commands.settings(call.place)

    async def _export(self, call: CommandCall) -> Reply:
        return await self._commands.export(call.who, call.command.word() or "4w")

    async def _stats(self, call: CommandCall) -> Reply:
        return await self._commands.stats(call.command.word() or "7d")


async def _send_file(call: CommandCall, reply: Reply) -> None:
    """Send a file to one person alone: into their conversation with the app."""
    assert reply.attachment is not None
    with translated_errors(call.place.server):
        opened = await call.client.conversations_open(users=call.user)
        await call.client.files_upload_v2(
            channel=opened["channel"]["id"], filename=reply.attachment.name, content=reply.attachment.data,
            title=reply.attachment.name,
        )  # fmt: skip
