"""The dialogue about a decision in a chat: the request, its result, and how to continue after a refusal.

It is the same on every platform; only the display of forms and refusals differs. What somebody wrote is never lost: a
refused form can be reopened with everything in it.

| refused because                           | the form reopens               | a lead may override |
|-------------------------------------------|--------------------------------|---------------------|
| a hard check fails                        | as it was sent                 | yes                 |
| another moderator has claimed the case    | as it was sent                 | yes                 |
| the case moved on, and allows it still    | for the case's current version | no                  |
| any other reason                          | as it was sent                 | no                  |
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
from core.domain import Action, Case, Decision, Intent, StrategyName
from core.errors import (
    CaseConflict,
    ChatUnavailable,
    ClaimedByOther,
    FailsChecks,
    LedgerUnavailable,
    RejoinderError,
    Unavailable,
)
from core.lifecycle import DECISIONS

log = logging.getLogger(__name__)

FORM_ACTIONS = (Action.EDIT, Action.REJECT, Action.REDRAFT, Action.HAND_OVER)
"""Actions that need a form to be filled in first."""
IMMEDIATE_ACTIONS = (
    Action.APPROVE, Action.DISMISS, Action.CLAIM, Action.RELEASE, Action.UNDO, Action.REOPEN, Action.HANDLE,
)  # fmt: skip
_AGAIN = Wordings(
    {
        Action.EDIT: N_("Edit again"),
        Action.REJECT: N_("Reject again"),
        Action.REDRAFT: N_("Redraft again"),
        Action.HAND_OVER: N_("Hand over again"),
    }
)
_AWAY = (
    (LedgerUnavailable, N_("The desk's database can't be reached now; try again in a while.")),
    (ChatUnavailable, N_("The chat did not take it; please try again.")),
)
FAULT = N_("That did not work because of a fault here; it is in the log. Please try again.")


@dataclass(frozen=True)
class DecisionRequest:
    """A decision that a moderator requests, with the content of its form.

    `number` is the case's short number, `version` the version they saw. `text` is a reply, a hint, a reason in their
    own words, or to whom a case goes and why; `choice` is an intent or the code of a reason; `strategy` is the one
    chosen for a redraft, out of those `offered`.
    """

    action: Action
    number: int
    version: int
    text: str = ""
    choice: str | None = None
    strategy: str | None = None
    offered: tuple[StrategyName, ...] = ()

    def decision(self, *, override: bool = False) -> Decision:
        """Return the decision for the desk."""
        fields: dict[str, Any] = {}
        match self.action:
            case Action.EDIT:
                fields = {"text": self.text}
            case Action.REJECT:
                fields = {"reason": self._reason()}
            case Action.HAND_OVER:
                fields = {"reason": self.text}
            case Action.REDRAFT:
                fields = {"intent": self.choice or None, "hint": self.text, "strategy": self.strategy}
        return Decision(action=self.action, version=self.version, override=override, **fields)

    def _reason(self) -> str:
        code, words = self.choice or OTHER.code, self.text.strip()
        return f"{code}: {words}" if words else code


@dataclass(frozen=True)
class Refusal:
    """A decision that was not carried out, and how the moderator can continue.

    `message` and `failed_checks` are not yet safe to show. `form` is the form to reopen, None if there was none. `case`
    is the case's current state, if known.
    """

    request: DecisionRequest
    message: str
    failed_checks: tuple[str, ...] = ()
    form: DecisionRequest | None = None
    may_override: bool = False
    case: Case | None = None

    @property
    def form_label(self) -> str | None:
        """Return the label of the button that reopens the form, or None without a form."""
        return _AGAIN[self.form.action] if self.form else None

    @property
    def override_label(self) -> str | None:
        """Return the label of the button that overrides, or None if this moderator may not."""
        if not self.may_override:
            return None
        return _("Post anyway") if self.failed_checks else _("Do it anyway")


class DecisionDialogue:
    """The steps from a button to a decision, on any platform."""

    def __init__(self, desk: Desk, own_cases: OwnCases, changes: Changes) -> None:
        self._desk = desk
        self._own_cases = own_cases
        self._changes = changes

    async def case(self, server: str, number: int) -> Case:
        """Return a server's case by its short number. Raises CaseNotFound, also for cases of other servers."""
        return await self._own_cases.by_number(server, number)

    def offering(self, request: DecisionRequest) -> DecisionRequest:
        """Return a request with the strategies that its form offers; none unless it is a redraft with a choice."""
        several = request.action is Action.REDRAFT and len(self._desk.strategies) > 1
        return replace(request, offered=tuple(self._desk.strategies) if several else ())

    async def open(self, server: str, request: DecisionRequest) -> DecisionRequest:
        """Return a request with the initial content of its form: the draft to edit, or the intent to change."""
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
        """Carry out a request from a server; return the case afterwards, or the refusal."""
        request = self.offering(request)
        try:
            key = (await self.case(server, request.number)).key
            case = await self._desk.decide(key, request.decision(override=override), who)
        except Exception as error:
            return refuse(request, error, who)
        self._changes.nudge()
        return case


def refuse(request: DecisionRequest, error: Exception, who: Moderator | None = None) -> Refusal:
    """Return what to say about an error, and what `who` can do about it; bugs are logged."""
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
    """Return the message that a request was carried out, with the state of its case."""
    return _("Done. Case #{number}: {standing}", number=str(request.number), standing=standing(case))


def _form_again(request: DecisionRequest, error: Exception, case: Case | None) -> DecisionRequest | None:
    if request.action is Action.APPROVE and isinstance(error, FailsChecks) and case is not None and case.draft:
        # A draft that fails its checks can be corrected.
        return replace(request, action=Action.EDIT, text=case.draft.text)
    if request.action not in FORM_ACTIONS:
        return None
    if case is not None and case.state in DECISIONS[request.action].takes:
        return replace(request, version=case.version)
    return request


def message_of(error: Exception) -> str:
    """Return what to tell a moderator about any error; errors that they can do nothing about are logged."""
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
