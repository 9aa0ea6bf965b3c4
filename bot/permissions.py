"""What a moderator may do with a case in its current state, regardless of the checks of a text."""

from __future__ import annotations

from dataclasses import dataclass

from bot.translation import N_, Wordings, _
from bot.wording import holder
from core.domain import Action, Case, CaseState, Draft, ModeratorRole, Origin, now
from core.errors import Forbidden
from core.lifecycle import DECIDED, DECISIONS

LEADS = ("lead", "admin")
ROLE_NAMES = Wordings({"reviewer": N_("reviewer"), "lead": N_("lead"), "admin": N_("admin")})


@dataclass(frozen=True)
class Moderator:
    """A person who works through the queue."""

    name: str
    role: ModeratorRole

    @property
    def leads(self) -> bool:
        """Tell whether this moderator may override checks and other people's claims."""
        return self.role in LEADS


def require_lead(who: Moderator, what: str) -> None:
    """Raise Forbidden unless `who` is a lead or an admin; `what` completes "Only a lead or an admin may …"."""
    if not who.leads:
        role = ROLE_NAMES[who.role]
        raise Forbidden(
            _("Only a lead or an admin may {what}, and you are a {role} here; ask a lead.", what=what, role=role)
        )


def allowed(case: Case, who: Moderator) -> frozenset[Action]:
    """Return what `who` may do with a case now, regardless of the checks of a text.

    On a case that somebody else has claimed, a lead may claim it too, with `override`.
    """
    possible = (action for action, change in DECISIONS.items() if case.state in change.takes)
    return frozenset(action for action in possible if _may(action, case, who))


def undoable(case: Case) -> bool:
    """Tell whether the decision on a case can still be undone."""
    return case.state in DECIDED and case.release_at is not None and case.release_at > now()


def _may(action: Action, case: Case, who: Moderator) -> bool:
    if case.erased_at is not None:
        return False
    is_free, is_over = holder(case) in (None, who.name), not undoable(case)
    fits = {
        Action.CLAIM: is_free or who.leads,
        Action.RELEASE: holder(case) == who.name,
        Action.APPROVE: is_free and approvable_draft(case) is not None,
        Action.EDIT: is_free,
        Action.REJECT: is_free,
        Action.DISMISS: is_free,
        Action.REDRAFT: is_free and case.triage is not None and case.grounding is not None,
        Action.UNDO: not is_over and may_undo(case, who),
        Action.ASSIGN: True,
        Action.REOPEN: is_over and case.triage is not None,
        Action.HAND_OVER: is_over,
        Action.HANDLE: can_be_handled(case),
        Action.RETRACT: case.retracted_at is None and may_undo(case, who),
    }
    return fits[action]


def can_be_handled(case: Case) -> bool:
    """Tell whether a closed case still needs attention from people."""
    ends_with_people = case.state in (CaseState.DISMISSED, CaseState.ESCALATED) and not case.handled
    return (case.appealed or ends_with_people) and not undoable(case)


def may_undo(case: Case, who: Moderator) -> bool:
    """Tell whether `who` made the decision or is a lead."""
    return case.decided_by in (None, who.name) or who.leads


def approvable_draft(case: Case) -> Draft | None:
    """Return the newest draft, or None if it has no text."""
    draft = case.draft
    return draft if draft and draft.text and draft.origin is not Origin.NONE else None
