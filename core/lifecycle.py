"""The life cycle of a case in one table: stages and their topics, and which actions lead from which state to which.

The stream takes the topics of each stage from here, the ledger the allowed transitions, and the desk what moderators
may do. `docs/architecture.md` has a diagram.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from core.domain import Action, CaseState, EventKind, Route


class TopicRole(StrEnum):
    """What a topic is for. All carry JSON, keyed by the case key; full names start with the configured prefix."""

    FLAGS = "flags"
    """FlaggedPost, from the gateway, `ingest` or the platform itself."""
    TRIAGED = "triaged"
    """The post with its Triage; the desk also writes here for a redraft with another strategy."""
    GROUNDED = "grounded"
    """The post with its evidence and the requested draft; the desk also writes here for a redraft."""
    DRAFTS = "drafts"
    """Draft."""
    REPLIES = "replies"
    """ReleasedReply, one per case, for the platform's connector."""
    OUTCOMES = "outcomes"
    """Outcome, each time a case ends; Retraction and Appeal. For audit and analytics."""
    DEAD_LETTERS = "dead-letters"
    """Messages that could not be processed, with the reason."""


class StageName(StrEnum):
    """One automatic step in the work on a case; a worker can run any of them."""

    TRIAGE = "triage"
    GROUND = "ground"
    DRAFT = "draft"
    DESK = "desk"


@dataclass(frozen=True)
class Change:
    """The states in which an action is possible, and those it may lead to; empty `leads_to` keeps the state."""

    takes: tuple[CaseState, ...]
    leads_to: tuple[CaseState, ...] = ()

    def pairs(self) -> Iterator[tuple[CaseState, CaseState]]:
        """Yield every (from, to) pair that may appear in the history."""
        for state in self.takes:
            yield from ((state, to) for to in self.leads_to or (state,))


@dataclass(frozen=True)
class StageSpec:
    """A stage's topics, the state of the cases it takes, and the states it may move them to."""

    reads: TopicRole
    writes: TopicRole | None
    takes: CaseState
    leads_to: tuple[CaseState, ...] = ()


ROUTES = {
    Route.DRAFT: CaseState.TRIAGED,
    Route.DOUBT: CaseState.TRIAGED,
    Route.DISMISS: CaseState.DISMISSED,
    Route.ESCALATE: CaseState.ESCALATED,
}
"""The state that each of triage's decisions leads to."""

STAGES = {
    StageName.TRIAGE: StageSpec(
        TopicRole.FLAGS, TopicRole.TRIAGED, CaseState.RECEIVED, tuple(dict.fromkeys(ROUTES.values()))
    ),
    StageName.GROUND: StageSpec(TopicRole.TRIAGED, TopicRole.GROUNDED, CaseState.TRIAGED, (CaseState.GROUNDED,)),
    # A case moves only when its draft is stored, and that is done by the desk stage.
    StageName.DRAFT: StageSpec(TopicRole.GROUNDED, TopicRole.DRAFTS, CaseState.GROUNDED),
    StageName.DESK: StageSpec(TopicRole.DRAFTS, None, CaseState.GROUNDED, (CaseState.PENDING,)),
}

UNFINISHED = tuple(dict.fromkeys(spec.takes for spec in STAGES.values()))
"""States in which the next step is automatic, in the order of the stages; the sweeper watches these."""

TURNED_DOWN = (CaseState.REJECTED, CaseState.DISMISSED)
"""States in which the draft or the whole post was turned down; final once the undo window is over."""
DECIDED = (CaseState.APPROVED, *TURNED_DOWN)
"""States in which a moderator's decision can be undone or has become final. Dismissals by triage are always final."""

ENDED = (CaseState.RELEASED, *TURNED_DOWN, CaseState.ESCALATED)
"""States in which a case rests until somebody reopens it or appeals."""

_APPROVAL = Change((CaseState.PENDING,), (CaseState.APPROVED,))
DECISIONS = {
    Action.CLAIM: Change((CaseState.PENDING,)),
    Action.RELEASE: Change((CaseState.PENDING, CaseState.GROUNDED, CaseState.TRIAGED)),
    Action.APPROVE: _APPROVAL,
    Action.EDIT: _APPROVAL,
    Action.REJECT: Change((CaseState.PENDING,), (CaseState.REJECTED,)),
    Action.DISMISS: Change((CaseState.PENDING,), (CaseState.DISMISSED,)),
    # With another strategy, a case returns to the ground stage: the new plan may need a model and another search.
    Action.REDRAFT: Change((CaseState.PENDING, CaseState.FAILED), (CaseState.GROUNDED, CaseState.TRIAGED)),
    Action.UNDO: Change(DECIDED, (CaseState.PENDING,)),
    Action.ASSIGN: Change((CaseState.GROUNDED, CaseState.PENDING, CaseState.ESCALATED)),
    # A case that triage ended has no evidence yet, so it continues at the ground stage.
    Action.REOPEN: Change((*TURNED_DOWN, CaseState.ESCALATED), (CaseState.TRIAGED, CaseState.GROUNDED)),
    Action.HAND_OVER: Change((CaseState.DISMISSED, CaseState.ESCALATED), (CaseState.ESCALATED,)),
    Action.HANDLE: Change(ENDED),
    Action.RETRACT: Change((CaseState.RELEASED,)),
}
"""The actions of moderators, and the states in which they are possible."""

EVENTS = {
    EventKind.NOTE: Change(tuple(CaseState)),
    EventKind.APPEAL: Change(ENDED),
    EventKind.EVIDENCE: Change((CaseState.PENDING,)),
}
"""What can be added in which state, whatever the version of the case; the state stays the same."""

PUBLICATION = Change((CaseState.APPROVED,), (CaseState.RELEASED,))
"""The reply has been published."""
FAILURE = Change(UNFINISHED, (CaseState.FAILED,))
"""A stage's message has become a dead letter."""
REPLAY = Change((CaseState.FAILED,), UNFINISHED)
"""A dead letter is sent again."""

ERASURE = Change((*UNFINISHED, CaseState.PENDING, CaseState.APPROVED, CaseState.FAILED), (CaseState.DISMISSED,))
"""The texts of an unfinished case are erased. Erasure is not a step of the life cycle: it is possible in any state.
Closed cases keep their state, and no transition follows."""


def goes_on(route: Route) -> bool:
    """Tell whether a post with this route gets evidence and reaches the moderators."""
    return ROUTES[route] in UNFINISHED


def fails_in(stage: StageName, *, undelivered: bool = False) -> tuple[CaseState, ...]:
    """Return the states in which `stage` may fail a case, so that a late message can't end a case that has moved on.

    If the stage's result was `undelivered`, the case may already be in the state to which the stage has moved it.
    """
    plan = STAGES[stage]
    reached = UNFINISHED[: UNFINISHED.index(plan.takes) + 1]
    moved_to = tuple(state for state in plan.leads_to if state in UNFINISHED)
    return reached + moved_to if undelivered else reached


def _transitions() -> Iterator[tuple[CaseState | None, CaseState]]:
    yield None, CaseState.RECEIVED
    for spec in STAGES.values():
        yield from ((spec.takes, to) for to in spec.leads_to)
    for change in (*DECISIONS.values(), *EVENTS.values(), PUBLICATION, FAILURE, REPLAY):
        yield from change.pairs()


TRANSITIONS = frozenset(_transitions())
"""Every (from, to) pair that may appear in a case's history; a new case comes from None."""
