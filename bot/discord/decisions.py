"""Carry out what buttons and forms request.

Discord requires an answer within 3 s, so every press is acknowledged before anything is looked up. A form can only be
the first answer to a press, and never the answer to a form. So it is opened without a look-up if the draft is cached,
and a refused form is reopened by a separate button.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from enum import StrEnum

from bot.chat.card_sync import CardSync
from bot.chat.cards import ButtonAction, Card, build_card, case_evidence
from bot.chat.decision_dialogue import IMMEDIATE_ACTIONS, DecisionDialogue, DecisionRequest, Refusal, done_words, refuse
from bot.chat.details import details
from bot.chat.languages import Languages
from bot.discord.board import SURFACE
from bot.discord.buttons import STYLES, ButtonId, CaseButton, row
from bot.discord.forms import OPEN_CASE, decision_form, read_form
from bot.discord.interactions import Interaction, answering, asking_moderator, server_id, tell
from bot.discord.pending_overrides import PendingOverrides
from bot.discord.render import card_embed, card_view, detail_embed, evidence_embeds
from bot.discord.text import plain
from bot.permissions import Moderator
from bot.stored_words import translate_stored
from bot.translation import _
from core.domain import Action
from core.errors import BadInput, Forbidden
from core.settings import ChatWorkspace
from ledger.cards import Cards

log = logging.getLogger(__name__)

FORM_DEADLINE_S = 1.5


class RefusalAction(StrEnum):
    """What a button below a refusal does."""

    AGAIN = "again"
    ANYWAY = "anyway"


class DecisionInteractions:
    """The answers to presses and forms; `drafts` has recently shown drafts by server and case number."""

    def __init__(
        self,
        dialogue: DecisionDialogue,
        cards: Cards,
        card_sync: CardSync,
        servers: Mapping[str, ChatWorkspace],
        languages: Languages,
        drafts: Mapping[tuple[str, int], str],
    ) -> None:
        self._dialogue = dialogue
        self._cards = cards
        self._card_sync = card_sync
        self._servers = servers
        self._languages = languages
        self._drafts = drafts
        self._pending = PendingOverrides()

    async def press(self, interaction: Interaction, button: ButtonId) -> None:
        """Carry out what a button means."""
        async with answering(interaction, self._languages):
            who = asking_moderator(interaction, self._servers)
            match button.action:
                case Action.EDIT:
                    request = await self._edit(server_id(interaction), button)
                    await interaction.response.send_modal(decision_form(request))
                case Action.REJECT | Action.REDRAFT | Action.HAND_OVER:
                    await interaction.response.send_modal(decision_form(self._dialogue.offering(_request(button))))
                case RefusalAction.AGAIN:
                    refused = self._refused(button)
                    await interaction.response.send_modal(decision_form(refused.form or refused.request))
                case ButtonAction.DRAFT:
                    first_draft = DecisionRequest(Action.REDRAFT, button.number, button.version)
                    await self._decide(interaction, first_draft, who)
                case ButtonAction.EVIDENCE:
                    await self._show_evidence(interaction, button)
                case ButtonAction.DETAILS:
                    await self._show_details(interaction, button)
                case RefusalAction.ANYWAY:
                    await self._override(interaction, button, who)
                case _ if button.action in IMMEDIATE_ACTIONS:
                    await self._decide(interaction, _request(button), who)
                case _:
                    raise BadInput(
                        _("This button is from another release; open the case anew with {command}.", command=OPEN_CASE)
                    )

    async def submit(self, interaction: Interaction) -> None:
        """Carry out what a submitted form requests, if it is one of ours."""
        async with answering(interaction, self._languages):
            request = read_form(dict(interaction.data or {}))
            if request is None:
                return
            try:
                who = asking_moderator(interaction, self._servers)
            except Forbidden as error:
                await self._tell_refusal(interaction, refuse(self._dialogue.offering(request), error))
            else:
                await self._decide(interaction, request, who)

    async def _decide(self, interaction: Interaction, request: DecisionRequest, who: Moderator) -> None:
        await interaction.response.defer()
        outcome = await self._dialogue.decide(server_id(interaction), request, who)
        if isinstance(outcome, Refusal):
            await self._tell_refusal(interaction, outcome)
        case = outcome.case if isinstance(outcome, Refusal) else outcome
        if case is not None:
            await self._show(interaction, case.key)

    async def _override(self, interaction: Interaction, button: ButtonId, who: Moderator) -> None:
        await interaction.response.defer()
        request = self._refused(button).request
        outcome = await self._dialogue.decide(server_id(interaction), request, who, override=True)
        if isinstance(outcome, Refusal):
            await self._tell_refusal(interaction, outcome)
            return
        await interaction.edit_original_response(content=plain(done_words(request, outcome)), view=None)

    async def _tell_refusal(self, interaction: Interaction, refusal: Refusal) -> None:
        """Explain a refusal, and offer the form again with its content, or to a lead the override."""
        token = self._pending.keep(refusal)
        buttons: list[CaseButton] = []
        if (form := refusal.form) is not None and (label := refusal.form_label):
            buttons.append(CaseButton(ButtonId(RefusalAction.AGAIN, form.version, form.number, token), label))
        if label := refusal.override_label:
            request = refusal.request
            anyway = ButtonId(RefusalAction.ANYWAY, request.version, request.number, token)
            buttons.append(CaseButton(anyway, label, STYLES["bad"]))
        words = "\n".join([refusal.message, *refusal.failed_checks])
        await tell(interaction, words, **({"view": row(buttons)} if buttons else {}))

    async def _show_evidence(self, interaction: Interaction, button: ButtonId) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        case = await self._dialogue.case(server_id(interaction), button.number)
        embeds = evidence_embeds(case_evidence(case))
        note = plain(translate_stored(case.grounding.note)) if case.grounding and case.grounding.note else ""
        nothing = _("No statement of the knowledge base fits this post.") if not embeds else ""
        await interaction.edit_original_response(content=note or nothing or None, embeds=embeds)

    async def _show_details(self, interaction: Interaction, button: ButtonId) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        case = await self._dialogue.case(server_id(interaction), button.number)
        embeds = [detail_embed(section) for section in details(case)]
        nothing = _("No model has read this post.") if not embeds else None
        await interaction.edit_original_response(content=nothing, embeds=embeds[:1])
        # One message for each, as all together may be longer than one message can be.
        for embed in embeds[1:]:
            await interaction.followup.send(embed=embed, ephemeral=True)

    async def _show(self, interaction: Interaction, key: str) -> None:
        """Update the message that was pressed to the case's current state; other cards follow by themselves."""
        message = interaction.message
        if message is None or interaction.guild_id is None:
            return
        posted = await self._cards.find(SURFACE, server_id(interaction), key)
        if posted is not None and posted.message == str(message.id):
            await self._card_sync.refresh(posted, lambda card, number: _edit_message(interaction, card, number))
        elif message.embeds:
            number = await self._cards.number_of(key)
            case = await self._dialogue.case(server_id(interaction), number)
            await _edit_message(interaction, build_card(case), number)

    async def _edit(self, server: str, button: ButtonId) -> DecisionRequest:
        """Return the start of an edit; without the draft if the ledger is too slow for Discord's deadline."""
        request = _request(button)
        if (draft := self._drafts.get((server, button.number))) is not None:
            return _request(button, draft)
        # A ledger query runs to its end even when cancelled, so a late one is not awaited.
        opening = asyncio.ensure_future(self._dialogue.open(server, request))
        done, _late = await asyncio.wait({opening}, timeout=FORM_DEADLINE_S)
        if done:
            return opening.result()
        opening.add_done_callback(lambda late: late.cancelled() or late.exception())
        log.warning("The ledger was too slow to fill in the form of case #%d.", button.number)
        return request

    def _refused(self, button: ButtonId) -> Refusal:
        refusal = self._pending.get(button.token)
        if refusal is None:
            raise BadInput(_("What you sent is no longer kept here; press the button on the case's card again."))
        return refusal


def _request(button: ButtonId, text: str = "") -> DecisionRequest:
    return DecisionRequest(Action(button.action), button.number, button.version, text)


async def _edit_message(interaction: Interaction, card: Card, number: int) -> None:
    await interaction.edit_original_response(embed=card_embed(card, number), view=card_view(card, number))
