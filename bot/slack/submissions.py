"""What happens when somebody submits a modal.

Slack closes the modal or shows another one, depending on the answer, which it requires within 3 s. If a decision takes
longer, the modal first says so and shows the result at the end.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.models.views import View
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat.decision_dialogue import FORM_ACTIONS, DecisionDialogue, Refusal, refuse
from bot.chat.languages import Languages
from bot.permissions import Moderator
from bot.slack.modals import read_modal, refused_modal, sentence_modal
from bot.slack.web_api import translated_errors
from bot.slack.workspaces import Workspaces
from bot.translation import _, speaking
from core.errors import RejoinderError

log = logging.getLogger(__name__)

ANSWER_WITHIN_S = 2.0
"""Seconds that a decision may take before the modal shows that it is in progress."""


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
            await _show(ack, deciding.result())
            return
        await _show(ack, _modal_while_working())
        outcome = await deciding or sentence_modal(_("Done"), _("Done. The card shows it."))
        try:
            with translated_errors(view["team_id"]):
                await client.views_update(view_id=view["id"], view=outcome)
        except RejoinderError as error:
            log.warning("What came of a modal could not be told; it may have been closed. %s", error)

    async def _decide(self, user: dict[str, Any], view: dict[str, Any]) -> View | None:
        """Decide, and return what the modal shows next, or None to close it."""
        request, override = read_modal(view)
        try:
            who = await self._moderator(user, view)
        except Exception as error:
            return refused_modal(refuse(self._dialogue.offering(request), error))
        outcome = await self._dialogue.decide(_team(user, view), request, who, override=override)
        return refused_modal(outcome) if isinstance(outcome, Refusal) else None

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
