"""The modals: edit, reject, redraft; and those that only show something."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from pydantic import BaseModel
from slack_sdk.models.blocks import Block, CheckboxesElement, InputBlock, Option, PlainTextInputElement
from slack_sdk.models.blocks import StaticSelectElement as Select
from slack_sdk.models.views import View

from bot.cards import failed_lines
from bot.inert import inert
from bot.reasons import REASONS
from bot.slack.rich import bold, bullets, line, plain, rich, words
from core.domain import Action, CaseState, Decision, Intent
from core.errors import CaseConflict, ClaimedByOther, FailsChecks, RejoinderError

MAX_TYPED = 3_000
MAX_HINT = 500
MAX_REASON = 450
_MAX_TOLD = 500
_OVERRIDE = "override"


class Modal(StrEnum):
    """Name a modal that is sent off; the value is its callback id."""

    EDIT = "edit"
    REJECT = "reject"
    REDRAFT = "redraft"


class Asked(BaseModel):
    """Carry, in a modal, which case it is about and which version was on the card."""

    number: int
    version: int
    intent: Intent = Intent.INFORMATIVE


class Filled(BaseModel):
    """Hold what somebody filled into a modal."""

    text: str = ""
    chosen: str | None = None
    override: bool = False


class Problem(BaseModel):
    """Say, in a modal that could not be carried out, why; `may_override` offers to do it nonetheless."""

    told: str
    failed: tuple[str, ...] = ()
    may_override: bool = False


def problem(error: RejoinderError, *, leads: bool) -> Problem:
    """Return what to say about a refusal; only a lead may override, and only a check or another's claim."""
    overridable = isinstance(error, FailsChecks | ClaimedByOther)
    failed = failed_lines(error.checks) if isinstance(error, FailsChecks) else ()
    return Problem(told=inert(str(error), _MAX_TOLD), failed=failed, may_override=leads and overridable)


def following(asked: Asked, error: RejoinderError) -> Asked:
    """Return what a modal is about after a refusal: when somebody was faster, the new version."""
    case = error.case if isinstance(error, CaseConflict) else None
    if case is None or case.state is not CaseState.PENDING:
        return asked
    return asked.model_copy(update={"version": case.version})


def edit_view(asked: Asked, text: str, trouble: Problem | None = None) -> View:
    """Return the modal in which a reply is written."""
    field = PlainTextInputElement(
        action_id="text", multiline=True, initial_value=text[:MAX_TYPED] or None, max_length=MAX_TYPED,
        focus_on_load=True,
    )  # fmt: skip
    hint = plain("Two sentences. What they state must stand in the evidence; you are told what the checks find.")
    return _form(Modal.EDIT, "Edit the reply", "Approve", asked, [
        InputBlock(block_id="text", label=plain("Reply"), element=field, hint=hint),
    ], trouble)  # fmt: skip


def reject_view(asked: Asked, filled: Filled | None = None, trouble: Problem | None = None) -> View:
    """Return the modal that asks why a draft is rejected."""
    filled = filled or Filled()
    options = [Option(text=plain(reason.label), value=reason.code) for reason in REASONS]
    menu = Select(
        action_id="chosen", options=options,
        initial_option=next((option for option in options if option.value == filled.chosen), None),
    )  # fmt: skip
    text = PlainTextInputElement(
        action_id="text", multiline=True, max_length=MAX_REASON, initial_value=filled.text or None
    )
    return _form(Modal.REJECT, "Reject", "Reject", asked, [
        InputBlock(block_id="chosen", label=plain("Why?"), element=menu),
        InputBlock(block_id="text", label=plain("In your own words"), element=text, optional=True),
    ], trouble)  # fmt: skip


def redraft_view(asked: Asked, filled: Filled | None = None, trouble: Problem | None = None) -> View:
    """Return the modal that asks for another draft."""
    filled = filled or Filled(chosen=asked.intent)
    options = [Option(text=plain(intent), value=intent) for intent in Intent]
    menu = Select(
        action_id="chosen", options=options,
        initial_option=next((option for option in options if option.value == filled.chosen), None),
    )  # fmt: skip
    hint = PlainTextInputElement(action_id="text", max_length=MAX_HINT, initial_value=filled.text or None)
    return _form(Modal.REDRAFT, "Another draft", "Redraft", asked, [
        InputBlock(block_id="chosen", label=plain("What should it set out to do?"), element=menu),
        InputBlock(block_id="text", label=plain("A hint to the writer"), element=hint, optional=True),
    ], trouble)  # fmt: skip


def form(modal: Modal, asked: Asked, filled: Filled, trouble: Problem) -> View:
    """Return a modal anew, with what was filled in and what is wrong."""
    match modal:
        case Modal.EDIT:
            return edit_view(asked, filled.text, trouble)
        case Modal.REJECT:
            return reject_view(asked, filled, trouble)
        case Modal.REDRAFT:
            return redraft_view(asked, filled, trouble)


def decision(modal: Modal, asked: Asked, filled: Filled) -> Decision:
    """Return the decision that a filled modal means."""
    match modal:
        case Modal.EDIT:
            wanted: dict[str, Any] = {"action": Action.EDIT, "text": filled.text}
        case Modal.REJECT:
            words_ = f": {filled.text}" if filled.text else ""
            wanted = {"action": Action.REJECT, "reason": f"{filled.chosen or ''}{words_}"}
        case Modal.REDRAFT:
            wanted = {"action": Action.REDRAFT, "intent": filled.chosen, "hint": filled.text}
    return Decision(version=asked.version, override=filled.override, **wanted)


def read(view: dict[str, Any]) -> tuple[Asked, Filled]:
    """Return what a sent modal is about and what was filled in."""
    given: dict[str, Any] = {}
    for fields in view["state"]["values"].values():
        for name, field in fields.items():
            if field["type"] == "checkboxes":
                given[name] = bool(field["selected_options"])
            elif field["type"] == "static_select":
                given[name] = (field["selected_option"] or {}).get("value")
            else:
                given[name] = field["value"] or ""
    return Asked.model_validate_json(view["private_metadata"]), Filled.model_validate(given)


def shown_view(title: str, blocks: Sequence[Block]) -> View:
    """Return a modal that only shows something, and leaves nothing behind when it is closed."""
    return View(type="modal", title=plain(title), close=plain("Close"), blocks=blocks)


def told_view(title: str, text: str) -> View:
    """Return a modal with one sentence."""
    return shown_view(title, [rich(line(words(text)))])


def _form(
    modal: Modal, title: str, submit: str, asked: Asked, inputs: Sequence[Block], trouble: Problem | None
) -> View:
    return View(
        type="modal", callback_id=modal, title=plain(title), submit=plain(submit), close=plain("Cancel"),
        private_metadata=asked.model_dump_json(), blocks=[*_told(trouble), *inputs, *_override(trouble)],
    )  # fmt: skip


def _told(trouble: Problem | None) -> list[Block]:
    if trouble is None:
        return []
    failed = [bullets([line(words(item)) for item in trouble.failed])] if trouble.failed else []
    return [rich(line(words(trouble.told, bold)), *failed)]


def _override(trouble: Problem | None) -> list[Block]:
    if trouble is None or not trouble.may_override:
        return []
    box = CheckboxesElement(action_id=_OVERRIDE, options=[Option(text=plain("Do it anyway, in my name"), value="yes")])
    return [InputBlock(block_id=_OVERRIDE, label=plain("You are a lead"), element=box, optional=True)]
