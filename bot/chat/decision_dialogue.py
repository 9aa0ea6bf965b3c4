"""What a moderator asks for in a chat, what comes of it, and how they go on when it is refused.

It is the same on every platform, which only shows forms and refusals its own way. What somebody wrote is never lost: a
form that is refused can be opened again with everything in it.

| refused because                          | the form opens again           | a lead may override |
|------------------------------------------|--------------------------------|---------------------|
| a hard check fails                       | as it was sent                 | yes                 |
| another moderator holds the case         | as it was sent                 | yes                 |
| the case moved on and is pending anew    | on the version that it has now | no                  |
| anything else                            | as it was sent                 | no                  |
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

from bot.changes import Changes
from bot.chat.cards import failed_lines
from bot.chat.own_cases import OwnCases
from bot.desk import Desk
from bot.permissions import Moderator
from bot.reasons import OTHER
from bot.stored_words import translate_stored
from bot.translation import N_, Wordings, _
from bot.wording import standing
from core.domain import Action, Case, CaseState, Decision, Intent, StrategyName
from core.errors import (
    CaseConflict,
    ChatUnavailable,
    ClaimedByOther,
    FailsChecks,
    LedgerUnavailable,
    RejoinderError,
    Unavailable,
)

log = logging.getLogger(__name__)

FORM_ACTIONS = (Action.EDIT, Action.REJECT, Action.REDRAFT)
"""Actions that need something filled in first."""
IMMEDIATE_ACTIONS = (
    Action.APPROVE, Action.DISMISS, Action.CLAIM, Action.RELEASE, Action.UNDO, Action.REOPEN, Action.HANDLE,
)  # fmt: skip
_AGAIN = Wordings(
    {
        Action.EDIT: N_("Edit again"),
        Action.REJECT: N_("Reject again"),
        Action.REDRAFT: N_("Redraft again"),
    }
)
_AWAY = (
    (LedgerUnavailable, N_("The desk's database can't be reached now; try again in a while.")),
    (ChatUnavailable, N_("The chat did not take it; please try again.")),
)
FAULT = N_("That did not work because of a fault here; it is in the log. Please try again.")


@dataclass(frozen=True)
class DecisionRequest:
    """A decision that a moderator asks for, with what stands in its form.

    `number` is the case's short number, `version` the one they saw. `text` is a reply, a reason in their own words or
    a hint; `choice` is a reason's code or an intent; `strategy` is the way chosen for a redraft, of those `offered`.
    """

    action: Action
    number: int
    version: int
    text: str = ""
    choice: str | None = None
    strategy: str | None = None
    offered: tuple[StrategyName, ...] = ()

    def decision(self, *, override: bool = False) -> Decision:
        """Return what to ask the desk for."""
        fields: dict[str, Any] = {}
        match self.action:
            case Action.EDIT:
                fields = {"text": self.text}
            case Action.REJECT:
                fields = {"reason": self._reason()}
            case Action.REDRAFT:
                fields = {"intent": self.choice or None, "hint": self.text, "strategy": self.strategy}
        return Decision(action=self.action, version=self.version, override=override, **fields)

    def _reason(self) -> str:
        code, words = self.choice or OTHER.code, self.text.strip()
        return f"{code}: {words}" if words else code


@dataclass(frozen=True)
class Refusal:
    """A decision that was not carried out, and how its moderator can go on.

    `message` and `failed_checks` are not yet made safe to show. `form` is what to open again, None when there was no
    form; `case` is the case as it stands now, where that is known.
    """

    request: DecisionRequest
    message: str
    failed_checks: tuple[str, ...] = ()
    form: DecisionRequest | None = None
    may_override: bool = False
    case: Case | None = None

    @property
    def form_label(self) -> str | None:
        """Return what the button is called that opens the form again; None when there is no form."""
        return _AGAIN[self.form.action] if self.form else None

    @property
    def override_label(self) -> str | None:
        """Return what the button is called that overrides; None when this moderator may not."""
        if not self.may_override:
            return None
        return _("Post anyway") if self.failed_checks else _("Do it anyway")


class DecisionDialogue:
    """The way from a button to a decision, whatever the platform."""

    def __init__(self, desk: Desk, own_cases: OwnCases, changes: Changes) -> None:
        self._desk = desk
        self._own_cases = own_cases
        self._changes = changes

    async def case(self, server: str, number: int) -> Case:
        """Return the case of a server with a short number; raises CaseNotFound, for those of others too."""
        return await self._own_cases.by_number(server, number)

    def offering(self, request: DecisionRequest) -> DecisionRequest:
        """Return a request with the strategies that its form offers; none where there is but one, or for no redraft."""
        several = request.action is Action.REDRAFT and len(self._desk.strategies) > 1
        return replace(request, offered=tuple(self._desk.strategies) if several else ())

    async def open(self, server: str, request: DecisionRequest) -> DecisionRequest:
        """Return a request with what its form starts from: the draft to edit, or the intent to change."""
        case = await self.case(server, request.number)
        match request.action:
            case Action.EDIT:
                return replace(request, text=case.draft.text if case.draft else "")
            case Action.REDRAFT:
                return replace(self.offering(request), choice=_intent(case))
            case _:
                return request

    async def decide(
        self, server: str, request: DecisionRequest, who: Moderator, *, override: bool = False
    ) -> Case | Refusal:
        """Carry out a request from a server and return the case as it then is, or why not."""
        request = self.offering(request)
        try:
            key = (await self.case(server, request.number)).key
            case = await self._desk.decide(key, request.decision(override=override), who)
        except Exception as error:
            return refuse(request, error, who)
        self._changes.nudge()
        return case


def refuse(request: DecisionRequest, error: Exception, who: Moderator | None = None) -> Refusal:
    """Return what to say about an error, and what `who` can do about it; a fault of ours is logged."""
    case = error.case if isinstance(error, CaseConflict) else None
    overridable = isinstance(error, FailsChecks | ClaimedByOther)
    return Refusal(
        request=request,
        message=message_of(error),
        failed_checks=failed_lines(error.checks) if isinstance(error, FailsChecks) else (),
        form=_form_again(request, error, case),
        may_override=overridable and who is not None and who.leads,
        case=case,
    )


def done_words(request: DecisionRequest, case: Case) -> str:
    """Say that a request was carried out, and how its case stands now."""
    return _("Done. Case #{number}: {standing}", number=str(request.number), standing=standing(case))


def _form_again(request: DecisionRequest, error: Exception, case: Case | None) -> DecisionRequest | None:
    if request.action is Action.APPROVE and isinstance(error, FailsChecks) and case is not None and case.draft:
        # A draft that may not leave as it is can be put right.
        return replace(request, action=Action.EDIT, text=case.draft.text)
    if request.action not in FORM_ACTIONS:
        return None
    if case is not None and case.state is CaseState.PENDING:
        return replace(request, version=case.version)
    return request


def message_of(error: Exception) -> str:
    """Return what to tell a moderator about any error; what they can do nothing about is logged."""
    if isinstance(error, Unavailable):
        log.warning("Told a moderator: %s", error)
        away = next((words for kind, words in _AWAY if isinstance(error, kind)), None)
        why = _(away) if away else str(error)
        return _("That did not work, and nothing was changed. {why}", why=why)
    if isinstance(error, RejoinderError):
        return translate_stored(str(error))
    log.error("What a moderator asked for could not be carried out", exc_info=error)
    return _(FAULT)


def _intent(case: Case) -> Intent:
    return case.draft.intent if case.draft else case.request.intent
