"""`/rejoinder …`: each command is acknowledged at once and answered to the one who typed it alone."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.models.blocks import Block
from slack_sdk.web.async_client import AsyncWebClient

from bot.asides import Asides
from bot.cards import build_card, evidence_line
from bot.commands import Commands, Place, Reply
from bot.desk import Moderator
from bot.inert import inert
from bot.slack.blocks import card_blocks, evidence_blocks, summary
from bot.slack.board import SURFACE
from bot.slack.calls import plainly
from bot.slack.rich import escaped, line, quote, rich, words
from bot.slack.typed import Typed, one_of, parse
from bot.slack.whispers import BROKEN, tell, whisper
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
class Asked:
    """Hold a typed command with who typed it and where."""

    typed: Typed
    who: Moderator
    place: Place
    user: str
    client: AsyncWebClient
    respond: AsyncRespond


class SlashCommands:
    """Answer `/rejoinder`."""

    def __init__(self, commands: Commands, asides: Asides, cards: Cards, workspaces: Workspaces) -> None:
        self._commands = commands
        self._asides = asides
        self._cards = cards
        self._workspaces = workspaces
        self._known: dict[str, Callable[[Asked], Awaitable[Reply | None]]] = {
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
            asked = await self._asked(command, client, respond)
            handle = self._known.get(asked.typed.name)
            if handle is None:
                raise BadInput(f"There is no command {asked.typed.name[:40]!r}; try {COMMAND} help.")
            reply = await handle(asked)
            if reply is not None:
                await self._answer(asked, reply)
        except RejoinderError as error:
            await whisper(respond, str(error))
        except Exception:
            log.exception("A command in Slack could not be carried out")
            await whisper(respond, BROKEN)

    async def _asked(self, command: dict[str, Any], client: AsyncWebClient, respond: AsyncRespond) -> Asked:
        team, user = command["team_id"], command["user_id"]
        who = await self._workspaces.who(team, user, command.get("user_name", "somebody"))
        place = Place(SURFACE, team, command["channel_id"])
        return Asked(parse(command.get("text") or ""), who, place, user, client, respond)

    async def _answer(self, asked: Asked, reply: Reply) -> None:
        if reply.attachment is not None:
            await _send_file(asked, reply)
        blocks: list[Block] = [rich(*(line(words(item)) for item in reply.lines))] if reply.lines else []
        text = escaped("\n".join(reply.lines))
        if reply.case is not None:
            card = build_card(reply.case)
            blocks += card_blocks(card, await self._cards.number(reply.case.key))
            text = text or summary(card)
        await tell(asked.respond, text, blocks)

    async def _help(self, asked: Asked) -> Reply:
        return Reply(tuple(f"{COMMAND} {item}" for item in HELP))

    async def _queue(self, asked: Asked) -> Reply:
        group = asked.typed.option("group", TargetGroup)
        return await self._commands.queue(asked.who, group=group, mine=asked.typed.word() == "mine")

    async def _case(self, asked: Asked) -> Reply:
        return await self._commands.case(asked.typed.rest)

    async def _intent(self, asked: Asked) -> Reply:
        match asked.typed.rest.split():
            case [] | ["show"]:
                return await self._commands.show_intents(asked.place)
            case ["set", name]:
                intent = None if name.lower() == "none" else one_of(Intent, name)
                kind = asked.typed.option("for", ScopeKind) or ScopeKind.CHANNEL
                scope = asked.typed.options.get(kind, "")
                return await self._commands.set_intent(asked.place, asked.who, intent, kind, scope)
        raise BadInput(f"Type {COMMAND} intent show, or {COMMAND} intent set questioning for:group group:muslims")

    async def _draft(self, asked: Asked) -> None:
        await tell(asked.respond, _WAITING, [])
        draft, grounding, reason = await self._asides.draft(asked.typed.rest, asked.typed.option("intent", Intent))
        if draft is None or not draft.text:
            await whisper(asked.respond, f"No draft: {draft.note if draft and draft.note else reason}")
            return
        sources = [evidence_line(item) for item in (grounding.evidence if grounding else ())]
        text = inert(draft.text, 1_000)
        await tell(asked.respond, escaped(text), [rich(quote(text)), *evidence_blocks(sources)])

    async def _evidence(self, asked: Asked) -> Reply | None:
        await tell(asked.respond, _WAITING, [])
        found = await self._asides.evidence(asked.typed.rest, asked.typed.option("group", TargetGroup))
        if not found:
            return Reply(("No fitting evidence. Try other words, or without a group.",))
        await tell(asked.respond, "Evidence", evidence_blocks([evidence_line(item) for item in found]))
        return None

    async def _pause(self, asked: Asked) -> Reply:
        return await self._commands.pause(asked.place, asked.who, on=True, hours=asked.typed.hours())

    async def _resume(self, asked: Asked) -> Reply:
        return await self._commands.pause(asked.place, asked.who, on=False)

    async def _assign(self, asked: Asked) -> Reply:
        if asked.typed.person is None:
            raise BadInput(f"To whom? Type {COMMAND} assign 12 @name, and pick the name from Slack's list.")
        assignee = await self._workspaces.who(asked.place.server, *asked.typed.person)
        return await self._commands.assign(asked.who, asked.typed.word(), assignee)

    async def _mute(self, asked: Asked) -> Reply:
        return await self._commands.mute(asked.place, asked.who, asked.typed.rest, on=True, hours=asked.typed.hours())

    async def _unmute(self, asked: Asked) -> Reply:
        return await self._commands.mute(asked.place, asked.who, asked.typed.rest, on=False)

    async def _hide(self, asked: Asked) -> Reply:
        return await self._commands.hide(asked.who, one_of(TargetGroup, asked.typed.rest), hidden=True)

    async def _unhide(self, asked: Asked) -> Reply:
        return await self._commands.hide(asked.who, one_of(TargetGroup, asked.typed.rest), hidden=False)

    async def _settings(self, asked: Asked) -> Reply:
        return await self._commands.settings(asked.place)

    async def _export(self, asked: Asked) -> Reply:
        return await self._commands.export(asked.who, asked.typed.word() or "4w")

    async def _stats(self, asked: Asked) -> Reply:
        return await self._commands.stats(asked.typed.word() or "7d")


async def _send_file(asked: Asked, reply: Reply) -> None:
    """Send a file to one person alone: into their conversation with the app."""
    assert reply.attachment is not None
    with plainly(asked.place.server):
        opened = await asked.client.conversations_open(users=asked.user)
        await asked.client.files_upload_v2(
            channel=opened["channel"]["id"], filename=reply.attachment.name, content=reply.attachment.data,
            title=reply.attachment.name,
        )  # fmt: skip
