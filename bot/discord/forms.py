"""The forms (modals) behind Edit, Reject, Redraft and Hand over, and the parsing of their content.

A form's id contains everything its submission needs, like a button's, so that a form opened before a restart can be
sent after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import discord

from bot.chat.decision_dialogue import FORM_ACTIONS, DecisionRequest
from bot.discord.buttons import ButtonId
from bot.reasons import REASONS
from bot.translation import N_, Wordings, _
from bot.wording import STRATEGY_WORDS, intent_label
from core.domain import Action, Intent
from core.errors import BadInput

LIFETIME_S = 900.0
"""Seconds after which Discord accepts no answer to the press that opened a form (15 minutes)."""
MAX_INPUT = 4_000
MAX_WORDS = 400

OPEN_CASE = "/rejoinder case"
_WHOLE = N_("Checked when you send it; goes out exactly as you write it.")
_CUT = N_("Discord takes no longer text: the end of the draft is left out. What stands here goes out.")
_TITLES = Wordings(
    {
        Action.EDIT: N_("Edit the reply"),
        Action.REJECT: N_("Reject the draft"),
        Action.REDRAFT: N_("Ask for another draft"),
        Action.HAND_OVER: N_("Hand this case over"),
    }
)
_TEXT_FIELDS = {Action.EDIT: "text", Action.REJECT: "words", Action.REDRAFT: "hint", Action.HAND_OVER: "reason"}
_CHOICE_FIELDS = {Action.REJECT: "reason", Action.REDRAFT: "intent"}
_STRATEGY_FIELD = "strategy"


def decision_form(request: DecisionRequest) -> discord.ui.Modal:
    """Return the form for a request, filled with the request's content."""
    button = ButtonId(request.action, request.version, request.number)
    form = discord.ui.Modal(title=_TITLES[request.action], custom_id=button.id, timeout=LIFETIME_S)
    for label in _labels(request):
        form.add_item(label)
    return form


def read_form(data: Mapping[str, Any]) -> DecisionRequest | None:
    """Parse a submitted form; None if it is not ours. Raises BadInput for one of another release."""
    button = ButtonId.read(str(data.get("custom_id", "")))
    if button is None:
        return None
    if button.action not in FORM_ACTIONS:
        raise BadInput(_("This form is from another release; open the case anew with {command}.", command=OPEN_CASE))
    action, fields = Action(button.action), dict(_fields(data.get("components", ())))
    return DecisionRequest(
        action, button.number, button.version,
        text=fields.get(_TEXT_FIELDS[action], ""), choice=fields.get(_CHOICE_FIELDS.get(action, "")) or None,
        strategy=fields.get(_STRATEGY_FIELD) or None,
    )  # fmt: skip


def _labels(request: DecisionRequest) -> list[discord.ui.Label[Any]]:
    match request.action:
        case Action.EDIT:
            return [_reply(request.text)]
        case Action.REJECT:
            reasons = {reason.code: reason.label for reason in REASONS}
            return [_menu(_("Reason"), request, reasons), _words(_("In your own words"), request)]
        case Action.HAND_OVER:
            return [_words(_("To whom, and why"), request, required=True)]
        case _:
            intents = {intent.value: intent_label(intent) for intent in Intent}
            hint = _words(_("Hint for the writer"), request)
            return [_menu(_("Intent"), request, intents), *_another_way(request), hint]


def _reply(text: str) -> discord.ui.Label[Any]:
    return discord.ui.Label(
        text=_("Reply"),
        description=_(_WHOLE) if len(text) <= MAX_INPUT else _(_CUT),
        component=discord.ui.TextInput(
            custom_id=_TEXT_FIELDS[Action.EDIT], style=discord.TextStyle.paragraph,
            default=text[:MAX_INPUT] or None, max_length=MAX_INPUT,
        ),
    )  # fmt: skip


def _menu(label: str, request: DecisionRequest, choices: Mapping[str, str]) -> discord.ui.Label[Any]:
    options = [
        discord.SelectOption(label=text[:100], value=value, default=value == request.choice)
        for value, text in choices.items()
    ]
    menu = discord.ui.Select[Any](custom_id=_CHOICE_FIELDS[request.action], options=options)
    return discord.ui.Label(text=label, component=menu)


def _another_way(request: DecisionRequest) -> list[discord.ui.Label[Any]]:
    options = [
        discord.SelectOption(
            label=name, value=name, description=STRATEGY_WORDS[name][:100], default=name == request.strategy
        )
        for name in request.offered
    ]
    menu = discord.ui.Select[Any](
        custom_id=_STRATEGY_FIELD, options=options, placeholder=_("as before"), min_values=0, required=False
    )
    return [discord.ui.Label(text=_("Another way"), component=menu)] if options else []


def _words(label: str, request: DecisionRequest, *, required: bool = False) -> discord.ui.Label[Any]:
    text = discord.ui.TextInput[Any](
        custom_id=_TEXT_FIELDS[request.action], style=discord.TextStyle.paragraph, required=required,
        default=request.text[:MAX_WORDS] or None, max_length=MAX_WORDS,
    )  # fmt: skip
    return discord.ui.Label(text=label, component=text)


def _fields(components: Any) -> Iterator[tuple[str, str]]:
    for item in components:
        if "component" in item:
            yield from _fields([item["component"]])
        elif "components" in item:
            yield from _fields(item["components"])
        elif "values" in item:
            yield item["custom_id"], next(iter(item["values"]), "")
        elif "value" in item:
            yield item["custom_id"], item["value"] or ""
