"""What happens when somebody presses a button of a card.

Slack requires an answer within 3 s, so each press is acknowledged first. The result is shown afterwards, either on the
card for everyone or in a message that only the person who pressed can see.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.errors import SlackApiError
from slack_sdk.models.blocks import ActionsBlock, Block, ButtonElement
from slack_sdk.models.views import View
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat.cards import ButtonAction, build_card, case_evidence
from bot.chat.decision_dialogue import (
    IMMEDIATE_ACTIONS,
    DecisionDialogue,
    DecisionRequest,
    Refusal,
    done_words,
    message_of,
)
from bot.chat.details import details
from bot.chat.languages import Languages
from bot.permissions import Moderator
from bot.slack.blocks import ButtonValue, action_id, card_blocks, detail_blocks, evidence_blocks, post_blocks, summary
from bot.slack.ephemeral import show_ephemeral, tell_ephemeral
from bot.slack.modals import decision_modal, failed_check_blocks, info_modal
from bot.slack.rich_text import escaped, line, plain, rich, words
from bot.slack.web_api import error_code, translated_errors
from bot.slack.workspaces import Workspaces
from bot.translation import _, speaking
from core.domain import Action, Case
from core.errors import BadInput

ANYWAY = "card:anyway"
_TOO_LATE = ("expired_trigger_id", "exchanged_trigger_id")


@dataclass(frozen=True)
class ButtonClick:
    """One press of a button: who, where, and the button's value; `private` means that only they see the message."""

    team: str
    user: str
    username: str
    trigger: str
    value: str
    private: bool
    client: AsyncWebClient
    respond: AsyncRespond

    @classmethod
    def read(cls, body: dict[str, Any], client: AsyncWebClient, respond: AsyncRespond) -> ButtonClick:
        """Parse Slack's payload (https://docs.slack.dev/reference/interaction-payloads/block_actions-payload)."""
        user = body["user"]
        return cls(
            # In a shared channel, the person may belong to another workspace than the app.
            team=user.get("team_id") or body["team"]["id"], user=user["id"], trigger=body["trigger_id"],
            username=user.get("username") or user.get("name") or "somebody", value=body["actions"][0].get("value", ""),
            private=body.get("container", {}).get("is_ephemeral", False), client=client, respond=respond,
        )  # fmt: skip


class ButtonClicks:
    """The listener for the buttons of cards."""

    def __init__(self, dialogue: DecisionDialogue, workspaces: Workspaces, languages: Languages) -> None:
        self._dialogue = dialogue
        self._workspaces = workspaces
        self._languages = languages

    def add_to(self, app: AsyncApp) -> None:
        """Listen to every button that a card can have."""
        for action in ButtonAction:
            app.action(action_id(action))(self._listener(self._act(action)))
        app.action(ANYWAY)(self._listener(self._override))

    def _listener(self, handle: Callable[[ButtonClick], Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def listen(ack: AsyncAck, body: dict[str, Any], client: AsyncWebClient, respond: AsyncRespond) -> None:
            await ack()
            click = ButtonClick.read(body, client, respond)
            with speaking(self._languages.of_person(click.team, click.user, click.username)):
                try:
                    await handle(click)
                except Exception as error:
                    await tell_ephemeral(respond, message_of(error))

        return listen

    def _act(self, action: ButtonAction) -> Callable[[ButtonClick], Awaitable[None]]:
        async def act(click: ButtonClick) -> None:
            value = ButtonValue.read(click.value)
            if action.decision is None:
                await open_modal(click, _info(action, await self._dialogue.case(click.team, value.number)))
                return
            request = DecisionRequest(action.decision, value.number, value.version)
            who = await self._moderator(click)
            if action is ButtonAction.DRAFT or request.action in IMMEDIATE_ACTIONS:
                case = await self._decide(click, request, who)
                if case is not None and click.private:
                    await _show_again(click, case, value.number)
            else:
                await open_modal(click, decision_modal(await self._dialogue.open(click.team, request)))

        return act

    async def _override(self, click: ButtonClick) -> None:
        carried, _colon, action = click.value.rpartition(":")
        if action not in (*IMMEDIATE_ACTIONS, Action.REDRAFT):
            raise BadInput(
                _("This button is not one of ours; open the case with {command}.", command="/rejoinder case")
            )
        value = ButtonValue.read(carried)
        request = DecisionRequest(Action(action), value.number, value.version)
        case = await self._decide(click, request, await self._moderator(click), override=True)
        if case is not None:
            text = escaped(done_words(request, case))
            await click.respond(text=text, replace_original=True, response_type="ephemeral")

    async def _decide(
        self, click: ButtonClick, request: DecisionRequest, who: Moderator, *, override: bool = False
    ) -> Case | None:
        """Decide and return the case afterwards; after a refusal, tell the person who pressed and return None."""
        outcome = await self._dialogue.decide(click.team, request, who, override=override)
        if isinstance(outcome, Refusal):
            await tell_ephemeral(click.respond, outcome.message, *refusal_blocks(outcome))
            return None
        return outcome

    async def _moderator(self, click: ButtonClick) -> Moderator:
        return await self._workspaces.who(click.team, click.user, click.username)


async def open_modal(click: ButtonClick, view: View) -> None:
    """Open a modal. Raises BadInput if Slack no longer allows it, three seconds after the press."""
    with translated_errors(click.team):
        try:
            await click.client.views_open(trigger_id=click.trigger, view=view)
        except SlackApiError as error:
            if error_code(error) not in _TOO_LATE:
                raise
            raise BadInput(_("That took too long, and Slack no longer opens the form; please press again.")) from error


async def _show_again(click: ButtonClick, case: Case, number: int) -> None:
    """Update a private card to its case's current state; cards in channels follow by themselves."""
    card = build_card(case)
    await show_ephemeral(click.respond, summary(card), card_blocks(card, number), replace=True)


def _info(action: ButtonAction, case: Case) -> View:
    if action is ButtonAction.SHOW:
        return info_modal(_("The post"), post_blocks(build_card(case)))
    if action is ButtonAction.DETAILS:
        blocks = detail_blocks(details(case))
        return info_modal(_("Details"), blocks or [rich(line(words(_("No model has read this post."))))])
    blocks = evidence_blocks(case_evidence(case))
    return info_modal(_("Evidence"), blocks or [rich(line(words(_("There is no evidence for this case."))))])


def refusal_blocks(refusal: Refusal) -> list[Block]:
    """Return the failed checks and the buttons to continue: open the form, or for a lead, override.

    A press has no filled-in form to keep, so the form's button is the same as on the card, and the dialogue fills the
    form anew.
    """
    elements: list[ButtonElement] = []
    if (form := refusal.form) is not None and (label := refusal.form_label):
        value = str(ButtonValue(form.number, form.version))
        again = action_id(ButtonAction(form.action))
        elements.append(ButtonElement(text=plain(label), action_id=again, value=value))
    if label := refusal.override_label:
        request = refusal.request
        value = f"{ButtonValue(request.number, request.version)}:{request.action}"
        elements.append(ButtonElement(text=plain(label), action_id=ANYWAY, value=value, style="danger"))
    return [*failed_check_blocks(refusal), *([ActionsBlock(elements=elements)] if elements else [])]
