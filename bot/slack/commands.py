"""`/rejoinder …`: each command is acknowledged at once, and its answer is visible only to the person who typed it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.models.blocks import Block
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat.cards import build_card
from bot.chat.command_answer import CommandAnswer
from bot.chat.command_help import help_lines
from bot.chat.commands import Commands
from bot.chat.decision_dialogue import message_of
from bot.chat.languages import Languages
from bot.chat.place import Place
from bot.permissions import Moderator
from bot.slack.blocks import card_blocks, evidence_blocks, summary
from bot.slack.board import SURFACE
from bot.slack.command_text import CommandText, one_of, parse
from bot.slack.ephemeral import show_ephemeral, tell_ephemeral
from bot.slack.rich_text import escaped, line, quote, rich, words
from bot.slack.web_api import translated_errors
from bot.slack.workspaces import Workspaces
from bot.translation import LANGUAGES, N_, Wordings, _, speaking
from core.domain import Action, Intent, StrategyName, TargetGroup
from core.errors import BadInput
from ledger.cards import Cards
from ledger.moderator_settings import ScopeKind

COMMAND = "/rejoinder"
_USAGES = Wordings(
    {
        "queue": N_("queue [mine, doubtful or appeals] [group:muslims]"),
        "case": "case 12",
        "dismiss": "dismiss 12",
        "redraft": "redraft [by:plain] 12",
        "reopen": N_("reopen 12 [WHY]"),
        "hand-over": N_("hand-over 12 TO WHOM AND WHY"),
        "handled": N_("handled 12 [WHAT WAS DONE]"),
        "retract": N_("retract 12 WHY"),
        "note": N_("note 12 TEXT"),
        "intent set": N_("intent set questioning [for:channel, group:muslims or language:es], intent set none …"),
        "draft": N_("draft [intent:positive] TEXT"),
        "evidence": N_("evidence [group:women] QUERY"),
        "stats": "stats [7d]",
        "pause": "pause [hours:2]",
        "assign": "assign 12 @ana",
        "mute-source": N_("mute-source PLATFORM [hours:2], unmute-source PLATFORM"),
        "hide": N_("hide GROUP, unhide GROUP"),
        "language": f"language [{'|'.join(LANGUAGES)}|none]",
        "export": "export [4w]",
    }
)
_AFTER_THE_END = {
    "reopen": Action.REOPEN, "hand-over": Action.HAND_OVER, "handled": Action.HANDLE, "retract": Action.RETRACT,
}  # fmt: skip
_WAITING = N_("Working on it; that can take a minute.")


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

    def __init__(self, commands: Commands, cards: Cards, workspaces: Workspaces, languages: Languages) -> None:
        self._commands = commands
        self._cards = cards
        self._workspaces = workspaces
        self._languages = languages
        self._known: dict[str, Callable[[CommandCall], Awaitable[CommandAnswer]]] = {
            "help": self._help, "queue": self._queue, "case": self._case, "dismiss": self._dismiss,
            "redraft": self._redraft,
            "intent": self._intent, "draft": self._draft, "evidence": self._evidence, "pause": self._pause,
            "resume": self._resume, "assign": self._assign, "mute-source": self._mute, "unmute-source": self._unmute,
            "hide": self._hide, "unhide": self._unhide, "settings": self._settings, "export": self._export,
            "stats": self._stats, "note": self._note, "language": self._language,
            **{name: partial(self._after_the_end, action) for name, action in _AFTER_THE_END.items()},
        }  # fmt: skip

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all commands."""
        return tuple(self._known)

    def add_to(self, app: AsyncApp) -> None:
        """Listen to the command."""
        app.command(COMMAND)(self._listen)

    async def _listen(
        self, ack: AsyncAck, command: dict[str, Any], client: AsyncWebClient, respond: AsyncRespond
    ) -> None:
        await ack()
        with speaking(self._languages.of_person(command["team_id"], command["user_id"], _username(command))):
            try:
                await self._carry_out(await self._call(command, client, respond))
            except Exception as error:
                await tell_ephemeral(respond, message_of(error))

    async def _carry_out(self, call: CommandCall) -> None:
        handle = self._known.get(call.command.name)
        if handle is None:
            raise BadInput(
                _(
                    "There is no command “{name}”; try {command}.",
                    name=call.command.name[:40],
                    command=f"{COMMAND} help",
                )
            )
        await self._answer(call, await handle(call))

    async def _call(self, command: dict[str, Any], client: AsyncWebClient, respond: AsyncRespond) -> CommandCall:
        team, user = command["team_id"], command["user_id"]
        who = await self._workspaces.who(team, user, _username(command))
        place = Place(SURFACE, team, command["channel_id"])
        return CommandCall(parse(command.get("text") or ""), who, place, user, client, respond)

    async def _answer(self, call: CommandCall, answer: CommandAnswer) -> None:
        if answer.attachment is not None:
            await _send_file(call, answer)
        blocks: list[Block] = [rich(*(line(words(item)) for item in answer.lines))] if answer.lines else []
        if answer.quote:
            blocks.append(rich(quote(answer.quote)))
        blocks += evidence_blocks(answer.evidence)
        text = escaped("\n".join(filter(None, [*answer.lines, answer.quote])))
        if answer.case is not None:
            card = build_card(answer.case)
            blocks += card_blocks(card, await self._cards.number_of(answer.case.key))
            text = text or summary(card)
        await show_ephemeral(call.respond, text, blocks)

    async def _help(self, call: CommandCall) -> CommandAnswer:
        return CommandAnswer(help_lines(dict(_USAGES), f"{COMMAND} "))

    async def _queue(self, call: CommandCall) -> CommandAnswer:
        group = call.command.option("group", TargetGroup)
        word = call.command.word()
        return await self._commands.queue(
            call.place, call.who, group=group, mine=word == "mine", doubtful=word == "doubtful",
            appeals=word == "appeals",
        )  # fmt: skip

    async def _case(self, call: CommandCall) -> CommandAnswer:
        return await self._commands.case(call.place, call.command.arguments)

    async def _dismiss(self, call: CommandCall) -> CommandAnswer:
        return await self._commands.dismiss(call.place, call.who, call.command.arguments)

    async def _redraft(self, call: CommandCall) -> CommandAnswer:
        chosen = call.command.option("by", StrategyName)
        return await self._commands.redraft(call.place, call.who, call.command.arguments, chosen)

    async def _after_the_end(self, action: Action, call: CommandCall) -> CommandAnswer:
        number, words = call.command.first_and_rest()
        return await self._commands.after_the_end(call.place, call.who, action, number, words)

    async def _note(self, call: CommandCall) -> CommandAnswer:
        number, text = call.command.first_and_rest()
        return await self._commands.note(call.place, call.who, number, text)

    async def _intent(self, call: CommandCall) -> CommandAnswer:
        match call.command.arguments.split():
            case [] | ["show"]:
                return await self._commands.show_intents(call.place)
            case ["set", name]:
                intent = None if name.lower() == "none" else one_of(Intent, name)
                return await self._commands.set_intent(call.place, call.who, intent, _named_scopes(call.command))
        examples = {"show": f"{COMMAND} intent show", "set": f"{COMMAND} intent set questioning group:muslims"}
        raise BadInput(_("Type {show}, or {set}", **examples))

    async def _draft(self, call: CommandCall) -> CommandAnswer:
        await show_ephemeral(call.respond, _(_WAITING), [])
        return await self._commands.draft(call.command.arguments, call.command.option("intent", Intent))

    async def _evidence(self, call: CommandCall) -> CommandAnswer:
        await show_ephemeral(call.respond, _(_WAITING), [])
        return await self._commands.evidence(call.command.arguments, call.command.option("group", TargetGroup))

    async def _pause(self, call: CommandCall) -> CommandAnswer:
        return await self._commands.pause(call.place, call.who, on=True, hours=call.command.hours())

    async def _resume(self, call: CommandCall) -> CommandAnswer:
        return await self._commands.pause(call.place, call.who, on=False)

    async def _assign(self, call: CommandCall) -> CommandAnswer:
        if call.command.person is None:
            example = f"{COMMAND} assign 12 @ana"
            raise BadInput(_("To whom? Type {command}, and pick the name from Slack's list.", command=example))
        assignee = await self._workspaces.who(call.place.server, *call.command.person)
        return await self._commands.assign(call.place, call.who, call.command.word(), assignee)

    async def _mute(self, call: CommandCall) -> CommandAnswer:
        return await self._commands.mute(
            call.place, call.who, call.command.arguments, on=True, hours=call.command.hours()
        )

    async def _unmute(self, call: CommandCall) -> CommandAnswer:
        return await self._commands.mute(call.place, call.who, call.command.arguments, on=False)

    async def _hide(self, call: CommandCall) -> CommandAnswer:
        return await self._commands.hide(call.who, one_of(TargetGroup, call.command.arguments), hidden=True)

    async def _unhide(self, call: CommandCall) -> CommandAnswer:
        return await self._commands.hide(call.who, one_of(TargetGroup, call.command.arguments), hidden=False)

    async def _language(self, call: CommandCall) -> CommandAnswer:
        chosen = call.command.word()
        if not chosen:
            raise BadInput(_("Which language? Type {command}", command=f"{COMMAND} {_USAGES['language']}"))
        return await self._commands.language(call.who, None if chosen == "none" else chosen)

    async def _settings(self, call: CommandCall) -> CommandAnswer:
        return await self._commands.settings(call.place)

    async def _export(self, call: CommandCall) -> CommandAnswer:
        return await self._commands.export(call.place, call.who, call.command.word() or "4w")

    async def _stats(self, call: CommandCall) -> CommandAnswer:
        return await self._commands.stats(call.place, call.command.word() or "7d")


def _username(command: dict[str, Any]) -> str:
    return str(command.get("user_name", "somebody"))


def _named_scopes(command: CommandText) -> dict[ScopeKind, str]:
    """Return the scope for an intent: `group:` and `language:` name it, `for:` gives its kind."""
    named = {kind: command.options[kind] for kind in (ScopeKind.GROUP, ScopeKind.LANGUAGE) if kind in command.options}
    kind = command.option("for", ScopeKind)
    return named if kind is None else {**named, kind: command.options.get(kind, "")}


async def _send_file(call: CommandCall, answer: CommandAnswer) -> None:
    """Send a file to one person only, in their conversation with the app."""
    assert answer.attachment is not None
    with translated_errors(call.place.server):
        opened = await call.client.conversations_open(users=call.user)
        await call.client.files_upload_v2(
            channel=opened["channel"]["id"], filename=answer.attachment.name, content=answer.attachment.data,
            title=answer.attachment.name,
        )  # fmt: skip
