"""The decisions: what each does to a case, and when it is refused (a lead may override what is marked *).

| action  | effect                                          | refused if                                     |
|---------|-------------------------------------------------|------------------------------------------------|
| claim   | reserves the case for `desk.claim_s`            | another moderator has claimed it*              |
| release | gives up the claim                              | another moderator has claimed it*              |
| approve | sends the newest draft, exactly as it was shown | the given text differs; a check fails*; author |
|         |                                                 | or thread has been answered with it since*     |
| edit    | sends the moderator's text                      | it is empty; a hard check fails*               |
| reject  | closes the case without a reply                 | no reason is given                             |
| dismiss | closes it because the post is not hateful       | the reason is "other", without words           |
| redraft | requests another draft, unlike the earlier ones | the case was never triaged and grounded; the   |
|         |                                                 | strategy is not offered here                   |
| undo    | takes a decision back before `release_at`       | the window is over; somebody else decided*     |
| assign  | assigns the case to a moderator                 | it is somebody else*                           |

For a case that has ended and whose undo window is over:

| action    | effect                                                         | refused if                      |
|-----------|----------------------------------------------------------------|---------------------------------|
| reopen    | has it drafted, as if nothing had ended it                     | it was released; the strategy   |
|           |                                                                | is not offered here             |
| hand_over | escalates it to people outside the queue, or to other people   | no reason is given              |
| handle    | marks it, or an appeal against it, as dealt with               | there is nothing to deal with   |
| retract   | asks the platform to take the reply back, once                 | no reason; others approved it*  |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

from bot.permissions import Moderator, approvable_draft, can_be_handled, may_undo, undoable
from bot.reasons import NOT_HATEFUL, stored_reason
from bot.redrafting import planned_redraft, reopening
from bot.translation import _
from bot.wording import standing
from core.domain import Action, Case, Check, Decision, Draft, Intent, StrategyName, failed, is_edited, now
from core.errors import BadInput, FailsChecks, Forbidden, NotAllowed
from core.settings import DeskSettings
from ledger import Ledger
from pipeline.guard import Guard, GuardContext, hidden_characters, may_outweigh, outweighed


@dataclass(frozen=True)
class DecisionRules:
    """What a decision does to a case at the version that the moderator saw, and when it is refused."""

    ledger: Ledger
    guard: Guard
    settings: DeskSettings
    strategies: Sequence[StrategyName]
    """The strategies that a redraft may request."""

    async def carry_out(self, case: Case, decision: Decision, who: Moderator) -> Case:  # noqa: C901 - one case an action
        """Carry out a decision on a case whose state allows it.

        Raises StaleVersion, ClaimedByOther, NotAllowed, FailsChecks, Forbidden or BadInput, and then changes nothing.
        """
        match decision.action:
            case Action.CLAIM:
                return await self._claim(case, decision, who)
            case Action.RELEASE:
                return await self.ledger.decisions.unclaim(case.key, case.version, who.name, force=decision.override)
            case Action.APPROVE:
                return await self._approve(case, decision, who)
            case Action.EDIT:
                return await self._edit(case, decision, who)
            case Action.REJECT:
                return await self._reject(case, decision, who)
            case Action.DISMISS:
                return await self._dismiss(case, decision, who)
            case Action.REDRAFT:
                return await self._redraft(case, decision, who)
            case Action.UNDO:
                return await self._undo(case, who)
            case Action.ASSIGN:
                return await self._assign(case, decision, who)
            case Action.REOPEN:
                return await self._reopen(case, decision, who)
            case Action.HAND_OVER:
                return await self._hand_over(case, decision, who)
            case Action.HANDLE:
                return await self._handle(case, decision, who)
            case Action.RETRACT:
                return await self._retract(case, decision, who)
            case _:
                assert_never(decision.action)

    async def _claim(self, case: Case, decision: Decision, who: Moderator) -> Case:
        until = now() + timedelta(seconds=self.settings.claim_s)
        return await self.ledger.decisions.claim(case.key, case.version, who.name, until, force=decision.override)

    async def _approve(self, case: Case, decision: Decision, who: Moderator) -> Case:
        draft = approvable_draft(case)
        if draft is None:
            raise BadInput(_("There is no draft to approve; write the reply yourself and send it as an edit."))
        if decision.text is not None and decision.text != draft.text:
            raise BadInput(_("The text to approve is not the draft's; to send another text, use edit."))
        checks = await self._checks_now(case, draft)
        _require_passing(case, checks, decision)
        return await self._send(case, draft.text, checks, decision, who)

    async def _edit(self, case: Case, decision: Decision, who: Moderator) -> Case:
        text = (decision.text or "").strip()
        if not text:
            raise BadInput(_("The edited text is empty; write the reply, or reject the case."))
        checks = await self.checks_to_send(case, text)
        _require_passing(case, checks, decision)
        return await self._send(case, text, checks, decision, who)

    async def _send(self, case: Case, text: str, checks: Sequence[Check], decision: Decision, who: Moderator) -> Case:
        if hidden := sorted(set(hidden_characters(text))):
            raise BadInput(
                _(
                    "The text has characters that can't be seen or that disguise it ({characters}); remove them. "
                    "No override sends them.",
                    characters=", ".join(hidden[:5]),
                )
            )
        draft = case.draft
        why = "edited" if draft is None or is_edited(text, draft) else f"approved draft {draft.number}"
        overridden = "checks overridden" if failed(checks) else None
        covered = "the post stayed covered" if decision.uncovered is False else None
        reasons = filter(None, [why, overridden, covered, decision.reason])
        return await self.ledger.decisions.approve(
            case.key, case.version, who.name, text, "; ".join(reasons), self._undo_until(), force=decision.override
        )

    async def _reject(self, case: Case, decision: Decision, who: Moderator) -> Case:
        reason = stored_reason(decision.reason)
        return await self.ledger.decisions.reject(
            case.key, case.version, who.name, reason, self._undo_until(), force=decision.override
        )

    async def _dismiss(self, case: Case, decision: Decision, who: Moderator) -> Case:
        reason = stored_reason(decision.reason or NOT_HATEFUL.code)
        return await self.ledger.decisions.dismiss(
            case.key, case.version, who.name, reason, self._undo_until(), force=decision.override
        )

    async def _redraft(self, case: Case, decision: Decision, who: Moderator) -> Case:
        self._require_offered(decision)
        plan = planned_redraft(case, decision)
        return await self.ledger.decisions.redraft(
            case.key, case.version, who.name, plan.request, plan.message, force=decision.override, to=plan.to
        )

    async def _undo(self, case: Case, who: Moderator) -> Case:
        if not may_undo(case, who):
            raise Forbidden(_("{who} decided this; only {who} or a lead may undo it.", who=case.decided_by))
        return await self.ledger.decisions.undo(case.key, case.version, who.name)

    async def _assign(self, case: Case, decision: Decision, who: Moderator) -> Case:
        assignee = decision.assignee or who.name
        if assignee != who.name and not who.leads:
            raise Forbidden(_("Only a lead or an admin may assign a case to somebody else."))
        why = f"assigned to {assignee}" + (f": {decision.reason}" if decision.reason else "")
        return await self.ledger.casework.assign(case.key, case.version, who.name, assignee, why)

    async def _reopen(self, case: Case, decision: Decision, who: Moderator) -> Case:
        _require_final(case)
        self._require_offered(decision)
        why = decision.reason or "opened again"
        way = reopening(case, decision)
        return await self.ledger.casework.reopen(case.key, case.version, who.name, why, way)

    async def _hand_over(self, case: Case, decision: Decision, who: Moderator) -> Case:
        _require_final(case)
        reason = _required_reason(decision)
        return await self.ledger.casework.hand_over(case.key, case.version, who.name, reason)

    async def _handle(self, case: Case, decision: Decision, who: Moderator) -> Case:
        _require_final(case)
        if not can_be_handled(case):
            raise NotAllowed(_("There is nothing to see to: {standing}", standing=standing(case)), case)
        return await self.ledger.casework.handle(case.key, case.version, who.name, decision.reason or "")

    async def _retract(self, case: Case, decision: Decision, who: Moderator) -> Case:
        _require_final(case)
        reason = _required_reason(decision)
        if not may_undo(case, who):
            raise Forbidden(_("{who} approved this reply; only {who} or a lead may retract it.", who=case.decided_by))
        return await self.ledger.casework.retract(case.key, case.version, who.name, reason)

    async def checks_to_send(self, case: Case, text: str) -> tuple[Check, ...]:
        """Return the checks of a text that may be the draft's, which the worker's guard has judged more closely."""
        draft = approvable_draft(case)
        return await (self._checks_now(case, draft) if draft and text == draft.text else self.checks_of(case, text))

    async def checks_of(self, case: Case, text: str) -> tuple[Check, ...]:
        """Return the guard's checks of a text for a case."""
        intent = case.draft.intent if case.draft else Intent.INFORMATIVE
        answered = await self.ledger.replies.near(case.key, approved_only=True)
        context = GuardContext.of(case.post, case.triage, case.grounding, intent, answered)
        return await self.guard.check(text, context)

    async def _checks_now(self, case: Case, draft: Draft) -> tuple[Check, ...]:
        """Return a draft's checks: repeated if they need no large model, otherwise as stored with the draft."""
        advice = outweighed(draft.checks)
        checks = {check.name: check for check in draft.checks}
        for check in await self.checks_of(case, draft.text):
            # This process has no readers that could outweigh it again.
            softened = check.name in advice and may_outweigh(check)
            checks[check.name] = check.model_copy(update={"hard": False}) if softened else check
        # A stored failure stays: the worker that drafted may have used a larger model than this process has.
        checks |= {check.name: check for check in failed(draft.checks) if not failed([checks[check.name]])}
        if draft.text in await self.ledger.replies.near(case.key, approved_only=True):
            detail = "The author or the thread was answered with this text in another case."
            checks["repeat"] = Check(name="repeat", passed=False, value=1.0, threshold=1.0, detail=detail)
        return tuple(checks.values())

    def _require_offered(self, decision: Decision) -> None:
        if decision.strategy is not None and decision.strategy not in self.strategies:
            raise BadInput(
                _(
                    "{strategy} is not offered here; choose one of {strategies}.",
                    strategy=decision.strategy,
                    strategies=", ".join(self.strategies) or _("none"),
                )
            )

    def _undo_until(self) -> datetime:
        return now() + timedelta(seconds=self.settings.undo_s)


def _require_final(case: Case) -> None:
    if undoable(case):
        raise NotAllowed(
            _("This decision can still be undone; do that instead: {standing}", standing=standing(case)), case
        )


def _required_reason(decision: Decision) -> str:
    reason = (decision.reason or "").strip()
    if not reason:
        raise BadInput(_("This needs a reason in your own words: to whom a case goes, or why a reply is taken back."))
    return reason


def _require_passing(case: Case, checks: tuple[Check, ...], decision: Decision) -> None:
    names = list(dict.fromkeys(check.name for check in failed(checks)))
    if names and not decision.override:
        listed = ", ".join(names)
        raise FailsChecks(
            _("The text fails: {checks}. Change it, or let a lead override.", checks=listed), checks, case
        )
