"""What happens when somebody submits a modal.

Slack closes the modal or shows another one, depending on the answer, which it requires within 3 s. If a decision takes
longer, the modal first says so and shows the result at the end. If it has been closed by then, a refusal is told in the
person's conversation with the app, with what they wrote.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat.decision_dialogue import FORM_ACTIONS, DecisionDialogue, Refusal, refuse
from bot.chat.defuse import defuse
from bot.chat.languages import Languages
from bot.permissions import Moderator
from bot.slack.modals import failed_check_blocks, read_modal, refused_modal, sentence_modal
from bot.slack.rich_text import bold, escaped, line, quote, rich, words
from bot.slack.web_api import translated_errors
from bot.slack.workspaces import Workspaces
from bot.translation import _, speaking
from core.errors import RejoinderError

log = logging.getLogger(__name__)

ANSWER_WITHIN_S = 2.0
"""Seconds that a decision may take before the modal shows that it is in progress."""
_MAX_MESSAGE = 500


class Submissions:
    """The listener for submitted modals."""

    def __init__(
        self, dialogue: DecisionDialogue, workspaces: Workspaces, languages: Languages,
        answer_within_s: float = ANSWER_WITHIN_S,
    ) -> None:  # fmt: skip
        self._dialogue = dialogue
        self._workspaces = workspaces
        self._languages = languages
        self._answer_within_s = answer_within_s

    def add_to(self, app: AsyncApp) -> None:
        """Listen to every modal that can be submitted."""

        # A plain function, because Bolt fills in parameters by name, including `self`.
        async def listen(ack: AsyncAck, body: dict[str, Any], view: dict[str, Any], client: AsyncWebClient) -> None:
            user = body["user"]
            with speaking(self._languages.of_person(_team(user, view), user["id"], _username(user))):
                await self._answer(ack, user, view, client)

        for action in FORM_ACTIONS:
            app.view(action)(listen)

    async def _answer(self, ack: AsyncAck, user: dict[str, Any], view: dict[str, Any], client: AsyncWebClient) -> None:
        deciding = asyncio.create_task(self._decide(user, view))
        if (await asyncio.wait({deciding}, timeout=self._answer_within_s))[0]:
            refusal = deciding.result()
            await _show(ack, refused_modal(refusal) if refusal else None)
            return
        await _show(ack, _modal_while_working())
        refusal = await deciding
        outcome = refused_modal(refusal) if refusal else sentence_modal(_("Done"), _("Done. The card shows it."))
        try:
            with translated_errors(view["team_id"]):
                await client.views_update(view_id=view["id"], view=outcome)
        except RejoinderError as error:
            log.info("What came of a modal can't be shown in it; it may have been closed. %s", error)
            if refusal:
                await _tell_directly(client, user["id"], view["team_id"], refusal)

    async def _decide(self, user: dict[str, Any], view: dict[str, Any]) -> Refusal | None:
        """Decide, and return the refusal, or None if it was done."""
        request, override = read_modal(view)
        try:
            who = await self._moderator(user, view)
        except Exception as error:
            return refuse(self._dialogue.offering(request), error)
        outcome = await self._dialogue.decide(_team(user, view), request, who, override=override)
        return outcome if isinstance(outcome, Refusal) else None

    async def _moderator(self, user: dict[str, Any], view: dict[str, Any]) -> Moderator:
        return await self._workspaces.who(_team(user, view), user["id"], _username(user))


def _team(user: dict[str, Any], view: dict[str, Any]) -> str:
    """Return the workspace of the person who submits a modal; in a shared channel it may differ from the app's."""
    return str(user.get("team_id") or view["team_id"])


def _username(user: dict[str, Any]) -> str:
    return str(user.get("username") or user.get("name") or "somebody")


def _modal_while_working() -> View:
    return sentence_modal(_("Working"), _("This takes longer than usual; what came of it will stand here."))


async def _show(ack: AsyncAck, view: View | None) -> None:
    if view is None:
        await ack()
    else:
        await ack(response_action="update", view=view)


async def _tell_directly(client: AsyncWebClient, user: str, team: str, refusal: Refusal) -> None:
    """Tell a person in their conversation with the app why they were refused, and give them their text back."""
    message = defuse(refusal.message, _MAX_MESSAGE)
    blocks: list[Block] = [rich(line(words(message, bold))), *failed_check_blocks(refusal)]
    if refusal.request.text:
        lost = _("You had closed the form of case {number}. You wrote:", number=str(refusal.request.number))
        blocks.append(rich(line(words(lost)), quote(refusal.request.text)))
    try:
        with translated_errors(team):
            opened = await client.conversations_open(users=user)
            await client.chat_postMessage(channel=opened["channel"]["id"], text=escaped(message), blocks=blocks)
    except RejoinderError as error:
        log.warning("A refusal could not be told, neither in its modal nor directly. %s", error)
