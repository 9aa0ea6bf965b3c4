"""What happens when somebody sends a modal off.

Slack closes the modal or shows another one, whichever the answer says, and wants it within 3 s. A decision that takes
longer is carried on while the modal says so, and says at the end what came of it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.models.views import View
from slack_sdk.web.async_client import AsyncWebClient

from bot.changes import Changes
from bot.desk import Desk, Moderator
from bot.slack.calls import plainly
from bot.slack.modals import Asked, Filled, Modal, Problem, decision, following, form, problem, read, told_view
from bot.slack.whispers import BROKEN
from bot.slack.workspaces import Workspaces
from core.errors import RejoinderError
from ledger.cards import Cards

log = logging.getLogger(__name__)

PATIENCE_S = 2.0
"""Seconds a decision may take before the modal is told to wait."""


class Submissions:
    """Carry out modals."""

    def __init__(
        self, desk: Desk, cards: Cards, workspaces: Workspaces, changes: Changes, patience_s: float = PATIENCE_S
    ) -> None:
        self._desk = desk
        self._cards = cards
        self._workspaces = workspaces
        self._changes = changes
        self._patience_s = patience_s

    def add_to(self, app: AsyncApp) -> None:
        """Listen to every modal that can be sent off."""
        for modal in Modal:
            app.view(modal)(self._listener(modal))

    def _listener(self, modal: Modal) -> Callable[..., Awaitable[None]]:
        async def listen(ack: AsyncAck, body: dict[str, Any], view: dict[str, Any], client: AsyncWebClient) -> None:
            working = asyncio.create_task(self._carry_out(modal, body["user"], view))
            if (await asyncio.wait({working}, timeout=self._patience_s))[0]:
                await _answer(ack, working.result())
                return
            await _answer(ack, told_view("Working", "This takes longer than usual; what came of it will stand here."))
            came_of_it = await working or told_view("Done", "Done. The card shows it.")
            try:
                with plainly(view["team_id"]):
                    await client.views_update(view_id=view["id"], view=came_of_it)
            except RejoinderError as error:
                log.warning("What came of a modal could not be told; it may have been closed. %s", error)

        return listen

    async def _carry_out(self, modal: Modal, user: dict[str, Any], view: dict[str, Any]) -> View | None:
        """Decide, and return what the modal is to show then; None when it is to close."""
        asked, filled = read(view)
        leads = False
        try:
            who = await self._who(user, view)
            leads = who.leads
            key = await self._cards.key(asked.number)
            await self._desk.decide(key, decision(modal, asked, filled), who)
        except RejoinderError as error:
            return _again(modal, asked, filled, error, leads=leads)
        except Exception:
            log.exception("A modal in Slack could not be carried out")
            return form(modal, asked, filled, Problem(told=BROKEN))
        self._changes.nudge()
        return None

    async def _who(self, user: dict[str, Any], view: dict[str, Any]) -> Moderator:
        username = user.get("username") or user.get("name") or "somebody"
        return await self._workspaces.who(user.get("team_id") or view["team_id"], user["id"], username)


def _again(modal: Modal, asked: Asked, filled: Filled, error: RejoinderError, *, leads: bool) -> View:
    return form(modal, following(asked, error), filled, problem(error, leads=leads))


async def _answer(ack: AsyncAck, view: View | None) -> None:
    if view is None:
        await ack()
    else:
        await ack(response_action="update", view=view)
