"""The modals: edit, reject, redraft and hand over, and those that only show something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from slack_sdk.models.blocks import Block, CheckboxesElement, InputBlock, Option, PlainTextInputElement
from slack_sdk.models.blocks import StaticSelectElement as Select
from slack_sdk.models.views import View

from bot.chat.decision_dialogue import DecisionRequest, Refusal
from bot.chat.defuse import defuse
from bot.reasons import REASONS
from bot.slack.rich_text import bold, bullets, line, plain, rich, words
from bot.translation import N_, Wordings, _
from bot.wording import intent_label, strategy_label
from core.domain import Action, Intent

MAX_REPLY = 3_000
MAX_HINT = 500
MAX_REASON = 450
_MAX_MESSAGE = 500
_OVERRIDE = "override"
_TITLES = Wordings({
    Action.EDIT: N_("Edit the reply"), Action.REJECT: N_("Reject"), Action.REDRAFT: N_("Another draft"),
    Action.HAND_OVER: N_("Hand this case over"),
})  # fmt: skip
_SUBMIT_LABELS = Wordings({
    Action.EDIT: N_("Approve"), Action.REJECT: N_("Reject"), Action.REDRAFT: N_("Redraft"),
    Action.HAND_OVER: N_("Hand it over"),
})  # fmt: skip


class _CarriedCase(BaseModel):
    """A modal's case and the version that the moderator saw, stored in the modal's metadata."""

    number: int
    version: int


class _Filled(BaseModel):
    """What somebody entered in a modal."""

    text: str = ""
    chosen: str | None = None
    strategy: str | None = None
    override: bool = False


def decision_modal(request: DecisionRequest, refusal: Refusal | None = None) -> View:
    """Return the modal for a request, filled with its content, and after a refusal with the reason."""
    carried = _CarriedCase(number=request.number, version=request.version)
    return View(
        type="modal", callback_id=request.action, title=plain(_TITLES[request.action]),
        submit=plain(_SUBMIT_LABELS[request.action]), close=plain(_("Cancel")),
        private_metadata=carried.model_dump_json(),
        blocks=[*_why(refusal), *_inputs(request), *_override_box(refusal)],
    )  # fmt: skip


def refused_modal(refusal: Refusal) -> View:
    """Return the modal again, with what was entered and what is wrong."""
    return decision_modal(refusal.form or refusal.request, refusal)


def read_modal(view: dict[str, Any]) -> tuple[DecisionRequest, bool]:
    """Parse a submitted modal; return the request, and whether the moderator overrides the refusal."""
    values: dict[str, Any] = {}
    for fields in view["state"]["values"].values():
        for name, field in fields.items():
            if field["type"] == "checkboxes":
                values[name] = bool(field["selected_options"])
            elif field["type"] == "static_select":
                values[name] = (field["selected_option"] or {}).get("value")
            else:
                values[name] = field["value"] or ""
    carried, filled = _CarriedCase.model_validate_json(view["private_metadata"]), _Filled.model_validate(values)
    action = Action(view["callback_id"])
    request = DecisionRequest(action, carried.number, carried.version, filled.text, filled.chosen, filled.strategy)
    return request, filled.override


def failed_check_blocks(refusal: Refusal) -> list[Block]:
    """Return the checks that a text failed as a list; empty if it failed none."""
    checks = [line(words(defuse(check, _MAX_MESSAGE))) for check in refusal.failed_checks]
    return [rich(bullets(checks))] if checks else []


def info_modal(title: str, blocks: Sequence[Block]) -> View:
    """Return a modal that only shows something and has nothing to submit."""
    return View(type="modal", title=plain(title), close=plain(_("Close")), blocks=blocks)


def sentence_modal(title: str, text: str) -> View:
    """Return a modal with one sentence."""
    return info_modal(title, [rich(line(words(text)))])


def _inputs(request: DecisionRequest) -> list[Block]:
    match request.action:
        case Action.EDIT:
            hint = _("Two sentences. What they state must stand in the evidence; you are told what the checks find.")
            field = _text_field(request, MAX_REPLY, multiline=True, focus_on_load=True)
            return [InputBlock(block_id="text", label=plain(_("Reply")), element=field, hint=plain(hint))]
        case Action.REJECT:
            reasons = [Option(text=plain(reason.label), value=reason.code) for reason in REASONS]
            text = _text_field(request, MAX_REASON, multiline=True)
            return [_menu(request, _("Why?"), reasons), _optional(_("In your own words"), text)]
        case Action.HAND_OVER:
            field = _text_field(request, MAX_REASON, multiline=True, focus_on_load=True)
            return [InputBlock(block_id="text", label=plain(_("To whom, and why")), element=field)]
        case _:
            intents = [Option(text=plain(intent_label(intent)), value=intent) for intent in Intent]
            menu = _menu(request, _("What should it set out to do?"), intents)
            hint_field = _optional(_("Hint for the writer"), _text_field(request, MAX_HINT))
            return [menu, *_another_way(request), hint_field]


def _text_field(request: DecisionRequest, limit: int, **options: Any) -> PlainTextInputElement:
    return PlainTextInputElement(
        action_id="text", initial_value=request.text[:limit] or None, max_length=limit, **options
    )


def _menu(request: DecisionRequest, label: str, options: list[Option]) -> Block:
    chosen = next((option for option in options if option.value == request.choice), None)
    menu = Select(action_id="chosen", options=options, initial_option=chosen)
    return InputBlock(block_id="chosen", label=plain(label), element=menu)


def _another_way(request: DecisionRequest) -> list[Block]:
    if not request.offered:
        return []
    options = [Option(text=plain(strategy_label(name)[:75]), value=name) for name in request.offered]
    chosen = next((option for option in options if option.value == request.strategy), None)
    menu = Select(action_id="strategy", options=options, initial_option=chosen, placeholder=plain(_("as before")))
    return [InputBlock(block_id="strategy", label=plain(_("Another way")), element=menu, optional=True)]


def _optional(label: str, field: PlainTextInputElement) -> Block:
    return InputBlock(block_id="text", label=plain(label), element=field, optional=True)


def _why(refusal: Refusal | None) -> list[Block]:
    if refusal is None:
        return []
    return [rich(line(words(defuse(refusal.message, _MAX_MESSAGE), bold))), *failed_check_blocks(refusal)]


def _override_box(refusal: Refusal | None) -> list[Block]:
    if refusal is None or refusal.override_label is None:
        return []
    label = plain(_("{action}, in my name", action=refusal.override_label))
    box = CheckboxesElement(action_id=_OVERRIDE, options=[Option(text=label, value="yes")])
    return [InputBlock(block_id=_OVERRIDE, label=plain(_("You are a lead")), element=box, optional=True)]
