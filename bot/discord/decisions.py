"""Carry out what buttons and forms ask for.

Discord wants an answer within 3 s, so every press is acknowledged before anything is looked up, and a form is opened
without looking anything up at all where the draft is at hand.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from bot.cards import build_card, evidence_lines, failed_lines
from bot.changes import Changes
from bot.desk import Desk, Moderator
from bot.discord import forms
from bot.discord.asker import Interaction, answering, asker, tell
from bot.discord.buttons import STYLES, CaseButton, Press, row
from bot.discord.render import card_embed, card_view, evidence_embeds
from bot.discord.text import plain
from bot.keeper import CardKeeper
from bot.offers import Offer, Offers
from bot.reasons import OTHER
from core.domain import Action, Case, Decision
from core.errors import BadInput, CaseConflict, ClaimedByOther, FailsChecks
from core.settings import ChatServer
from ledger import Ledger

log = logging.getLogger(__name__)

FORM_DEADLINE_S = 1.5
AT_ONCE = (Action.APPROVE, Action.CLAIM, Action.RELEASE, Action.UNDO)
ANYWAY, AGAIN = "anyway", "again"
_DONE = {Action.APPROVE: "Approved", Action.EDIT: "Approved with your text", Action.REJECT: "Rejected"}


class Decisions:
    """Answer presses and forms."""

    def __init__(
        self,
        desk: Desk,
        ledger: Ledger,
        changes: Changes,
        keeper: CardKeeper,
        servers: Mapping[str, ChatServer],
        drafts: Mapping[int, str],
    ) -> None:
        self._desk = desk
        self._ledger = ledger
        self._changes = changes
        self._keeper = keeper
        self._servers = servers
        self._drafts = drafts
        self._offers = Offers()

    async def press(self, interaction: Interaction, press: Press) -> None:
        """Do what a button is for."""
        async with answering(interaction):
            who = asker(interaction, self._servers)
            match press.action:
                case Action.EDIT:
                    await interaction.response.send_modal(forms.edit_form(press, await self._draft(press)))
                case Action.REJECT:
                    await interaction.response.send_modal(forms.reject_form(press))
                case Action.REDRAFT:
                    await interaction.response.send_modal(forms.redraft_form(press))
                case "again":
                    again = Press(Action.EDIT, press.version, press.number)
                    text = self._offered(press).decision.text or ""
                    await interaction.response.send_modal(forms.edit_form(again, text))
                case "evidence":
                    await self._show_evidence(interaction, press)
                case "anyway":
                    await self._insist(interaction, press, who)
                case _ if press.action in AT_ONCE:
                    await self._decide(interaction, press, {}, who)
                case _:
                    raise BadInput("This button is from another release; open the case anew with /rejoinder case.")

    async def submit(self, interaction: Interaction, press: Press, fields: Mapping[str, str]) -> None:
        """Do what a sent form asks for."""
        async with answering(interaction):
            who = asker(interaction, self._servers)
            match press.action:
                case Action.EDIT:
                    await self._decide(interaction, press, {"text": fields.get("text", "")}, who)
                case Action.REJECT:
                    await self._decide(interaction, press, {"reason": _reason(fields)}, who)
                case Action.REDRAFT:
                    wish = {"intent": fields.get("intent") or None, "hint": fields.get("hint", "")}
                    await self._decide(interaction, press, wish, who)
                case _:
                    raise BadInput("This form is from another release; open the case anew with /rejoinder case.")

    async def _decide(self, interaction: Interaction, press: Press, fields: dict[str, Any], who: Moderator) -> None:
        await interaction.response.defer()
        key = await self._ledger.cards.key(press.number)
        decision = Decision(action=Action(press.action), version=press.version, **fields)
        try:
            await self._desk.decide(key, decision, who)
        except (FailsChecks, ClaimedByOther) as error:
            await self._offer(interaction, press, Offer(key, decision), who, error)
        except CaseConflict as error:
            await tell(interaction, str(error))
        self._changes.nudge()
        await self._show(interaction, key)

    async def _offer(
        self, interaction: Interaction, press: Press, offer: Offer, who: Moderator, error: CaseConflict
    ) -> None:
        """Say why not, and offer what is left: write it again, or as a lead insist."""
        token = self._offers.keep(offer)
        buttons: list[CaseButton] = []
        lines = [str(error)]
        if isinstance(error, FailsChecks):
            lines += failed_lines(error.checks)
            buttons.append(CaseButton(Press(AGAIN, press.version, press.number, token), "Edit again"))
        if who.leads:
            label = "Post anyway" if isinstance(error, FailsChecks) else "Do it anyway"
            buttons.append(CaseButton(Press(ANYWAY, press.version, press.number, token), label, STYLES["bad"]))
        await tell(interaction, "\n".join(lines), **({"view": row(buttons)} if buttons else {}))

    async def _insist(self, interaction: Interaction, press: Press, who: Moderator) -> None:
        await interaction.response.defer()
        offer = self._offered(press)
        case = await self._desk.decide(offer.key, offer.decision.model_copy(update={"override": True}), who)
        self._changes.nudge()
        done = _DONE.get(offer.decision.action, "Done")
        number = press.number
        await interaction.edit_original_response(content=plain(f"{done}: case #{number} is {case.state}."), view=None)

    async def _show_evidence(self, interaction: Interaction, press: Press) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        case = await self._case(press.number)
        embeds = evidence_embeds(evidence_lines(case))
        note = plain(case.grounding.note) if case.grounding and case.grounding.note else ""
        nothing = "No statement of the knowledge base fits this post." if not embeds else ""
        await interaction.edit_original_response(content=note or nothing or None, embeds=embeds)

    async def _show(self, interaction: Interaction, key: str) -> None:
        """Show on the message that was pressed how its case stands now; the other cards follow by themselves."""
        message = interaction.message
        if message is None or interaction.guild_id is None:
            return
        hung = await self._ledger.cards.find("discord", str(interaction.guild_id), key)
        if hung is not None and hung.message == str(message.id):
            await self._keeper.refresh(hung, lambda card, number: _edit(interaction, card, number))
        elif message.embeds:
            case = await self._desk.case(key)
            await _edit(interaction, build_card(case), await self._ledger.cards.number(key))

    async def _draft(self, press: Press) -> str:
        """Return the draft to start from; empty when the ledger is too slow for Discord's deadline."""
        if press.number in self._drafts:
            return self._drafts[press.number]
        # A query of the ledger runs to its end even when cancelled, so it is not waited for.
        looking = asyncio.ensure_future(self._case(press.number))
        done, _ = await asyncio.wait({looking}, timeout=FORM_DEADLINE_S)
        if not done:
            looking.add_done_callback(lambda late: late.cancelled() or late.exception())
            log.warning("The ledger was too slow to fill in the form of case #%d.", press.number)
            return ""
        case = looking.result()
        return case.draft.text if case.draft else ""

    async def _case(self, number: int) -> Case:
        return await self._desk.case(await self._ledger.cards.key(number))

    def _offered(self, press: Press) -> Offer:
        offer = self._offers.get(press.token)
        if offer is None:
            raise BadInput("What you sent is no longer kept here; press the button on the case's card again.")
        return offer


async def _edit(interaction: Interaction, card: Any, number: int) -> None:
    await interaction.edit_original_response(embed=card_embed(card, number), view=card_view(card, number))


def _reason(fields: Mapping[str, str]) -> str:
    code, words = fields.get("reason") or OTHER.code, fields.get("words", "").strip()
    return f"{code}: {words}" if words else code
