"""What happens when somebody presses a button of a card.

Slack wants an answer within 3 s, so each press is acknowledged first; what comes of it is told afterwards: on the card,
to everyone, or in a message that only the one who pressed sees.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.errors import SlackApiError
from slack_sdk.models.blocks import ActionsBlock, Block, ButtonElement
from slack_sdk.models.views import View
from slack_sdk.web.async_client import AsyncWebClient

from bot.cards import ButtonAction, build_card, evidence_lines
from bot.changes import Changes
from bot.desk import Desk, Moderator
from bot.slack.blocks import Pressed, action_id, evidence_blocks, post_blocks
from bot.slack.calls import error_code, plainly
from bot.slack.modals import MAX_TYPED, Asked, edit_view, redraft_view, reject_view, shown_view
from bot.slack.rich import line, plain, rich, words
from bot.slack.whispers import BROKEN, whisper
from bot.slack.workspaces import Workspaces
from core.domain import Action, Case, Decision
from core.errors import BadInput, ClaimedByOther, FailsChecks, RejoinderError
from ledger.cards import Cards

log = logging.getLogger(__name__)

ANYWAY = "card:anyway"
_AT_ONCE = (ButtonAction.APPROVE, ButtonAction.CLAIM, ButtonAction.RELEASE, ButtonAction.UNDO)
_TOO_LATE = ("expired_trigger_id", "exchanged_trigger_id")


@dataclass(frozen=True)
class Press:
    """Hold one press: by whom, where, and on what."""

    team: str
    user: str
    username: str
    trigger: str
    value: str
    client: AsyncWebClient
    respond: AsyncRespond

    @classmethod
    def read(cls, body: dict[str, Any], client: AsyncWebClient, respond: AsyncRespond) -> Press:
        """Read what Slack sent (https://docs.slack.dev/reference/interaction-payloads/block_actions-payload)."""
        user = body["user"]
        return cls(
            # Who presses in a shared channel may belong to another workspace than the app.
            team=user.get("team_id") or body["team"]["id"], user=user["id"], trigger=body["trigger_id"],
            username=user.get("username") or user.get("name") or "somebody", value=body["actions"][0].get("value", ""),
            client=client, respond=respond,
        )  # fmt: skip


class Presses:
    """Carry out presses."""

    def __init__(self, desk: Desk, cards: Cards, workspaces: Workspaces, changes: Changes) -> None:
        self._desk = desk
        self._cards = cards
        self._workspaces = workspaces
        self._changes = changes

    def add_to(self, app: AsyncApp) -> None:
        """Listen to every button a card can have."""
        for action in ButtonAction:
            app.action(action_id(action))(self._listener(self._act(action)))
        app.action(ANYWAY)(self._listener(self._anyway))

    def _listener(self, handle: Callable[[Press], Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def listen(ack: AsyncAck, body: dict[str, Any], client: AsyncWebClient, respond: AsyncRespond) -> None:
            await ack()
            press = Press.read(body, client, respond)
            try:
                await handle(press)
            except RejoinderError as error:
                await whisper(respond, str(error))
            except Exception:
                log.exception("A press on a card in Slack could not be carried out")
                await whisper(respond, BROKEN)

        return listen

    def _act(self, action: ButtonAction) -> Callable[[Press], Awaitable[None]]:
        async def act(press: Press) -> None:
            pressed = Pressed.read(press.value)
            case = await self._desk.case(await self._cards.key(pressed.number))
            if action in (ButtonAction.SHOW, ButtonAction.EVIDENCE):
                await open_view(press, _shown(action, case))
                return
            who = await self._workspaces.who(press.team, press.user, press.username)
            if action in _AT_ONCE:
                await self._decide(press, pressed, case, Action(action), who)
            else:
                await open_view(press, _asking(action, pressed, case))

        return act

    async def _decide(self, press: Press, pressed: Pressed, case: Case, action: Action, who: Moderator) -> None:
        try:
            await self._desk.decide(case.key, Decision(action=action, version=pressed.version), who)
        except (ClaimedByOther, FailsChecks) as error:
            if not who.leads:
                raise
            await whisper(press.respond, str(error), _anyway(pressed, action))
            return
        self._changes.nudge()

    async def _anyway(self, press: Press) -> None:
        carried, _, action = press.value.rpartition(":")
        if action not in _AT_ONCE:
            raise BadInput("This button is not one of ours.")
        pressed = Pressed.read(carried)
        who = await self._workspaces.who(press.team, press.user, press.username)
        key = await self._cards.key(pressed.number)
        await self._desk.decide(key, Decision(action=Action(action), version=pressed.version, override=True), who)
        self._changes.nudge()
        await press.respond(text="Done.", replace_original=True, response_type="ephemeral")


async def open_view(press: Press, view: View) -> None:
    """Open a modal; raises BadInput when Slack no longer lets us, three seconds after the press."""
    with plainly(press.team):
        try:
            await press.client.views_open(trigger_id=press.trigger, view=view)
        except SlackApiError as error:
            if error_code(error) not in _TOO_LATE:
                raise
            raise BadInput("That took too long, and Slack closed the door; please press again.") from error


def _shown(action: ButtonAction, case: Case) -> View:
    if action is ButtonAction.SHOW:
        return shown_view("The post", post_blocks(build_card(case)))
    blocks = evidence_blocks(evidence_lines(case))
    return shown_view("Evidence", blocks or [rich(line(words("There is no evidence for this case.")))])


def _asking(action: ButtonAction, pressed: Pressed, case: Case) -> View:
    draft = case.draft
    asked = Asked(number=pressed.number, version=pressed.version, intent=draft.intent if draft else case.request.intent)
    match action:
        case ButtonAction.EDIT:
            return edit_view(asked, draft.text[:MAX_TYPED] if draft else "")
        case ButtonAction.REJECT:
            return reject_view(asked)
        case _:
            return redraft_view(asked)


def _anyway(pressed: Pressed, action: Action) -> Block:
    return ActionsBlock(elements=[
        ButtonElement(text=plain("Do it anyway"), action_id=ANYWAY, value=f"{pressed}:{action}", style="danger")
    ])  # fmt: skip
