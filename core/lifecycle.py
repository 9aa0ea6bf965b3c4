"""The life of a case, in one table: its stages with their topics, what may happen in which state, and where it leads.

The stream reads here what each stage reads and writes, the ledger from where to where a case may move, the desk what a
moderator may do. `docs/architecture.md` draws it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from core.domain import Action, CaseState, EventKind, Route


class TopicRole(StrEnum):
    """The part a topic plays; its full name has the configured prefix. All carry JSON, keyed by the case key."""

    FLAGS = "flags"
    """FlaggedPost, from gateway, `ingest` or the platform itself."""
    TRIAGED = "triaged"
    """The post with its Triage; also from the desk, for a redraft with another strategy."""
    GROUNDED = "grounded"
    """The post with its evidence and the draft asked for; also from the desk, for a redraft."""
    DRAFTS = "drafts"
    """Draft."""
    REPLIES = "replies"
    """ReleasedReply, once a case, for the platform's connector."""
    OUTCOMES = "outcomes"
    """Outcome, once a case's end; Retraction and Appeal; for audit and analytics."""
    DEAD_LETTERS = "dead-letters"
    """Messages that could not be worked on, with the reason."""


class StageName(StrEnum):
    """One step of the machine's work on a case; a worker runs any of them."""

    TRIAGE = "triage"
    GROUND = "ground"
    DRAFT = "draft"
    DESK = "desk"


@dataclass(frozen=True)
class Change:
    """The states in which something may happen to a case, and those it may lead to; without any the case stays."""

    takes: tuple[CaseState, ...]
    leads_to: tuple[CaseState, ...] = ()

    def pairs(self) -> Iterator[tuple[CaseState, CaseState]]:
        """Yield every (from, to) that the history may show."""
        for state in self.takes:
            yield from ((state, to) for to in self.leads_to or (state,))


@dataclass(frozen=True)
class StageSpec:
    """The topics of a stage, the state of the cases it works on, and the states it may move them to."""

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
"""Where triage's decision leads."""

STAGES = {
    StageName.TRIAGE: StageSpec(
        TopicRole.FLAGS, TopicRole.TRIAGED, CaseState.RECEIVED, tuple(dict.fromkeys(ROUTES.values()))
    ),
    StageName.GROUND: StageSpec(TopicRole.TRIAGED, TopicRole.GROUNDED, CaseState.TRIAGED, (CaseState.GROUNDED,)),
    # A case moves once its draft is on file, which is the desk stage's work.
    StageName.DRAFT: StageSpec(TopicRole.GROUNDED, TopicRole.DRAFTS, CaseState.GROUNDED),
    StageName.DESK: StageSpec(TopicRole.DRAFTS, None, CaseState.GROUNDED, (CaseState.PENDING,)),
}

UNFINISHED = tuple(dict.fromkeys(spec.takes for spec in STAGES.values()))
"""States in which the machine owes the next step, in their order; the sweeper watches these."""

TURNED_DOWN = (CaseState.REJECTED, CaseState.DISMISSED)
"""States in which the draft or the whole post was turned down, for good once the undo window is over."""
DECIDED = (CaseState.APPROVED, *TURNED_DOWN)
"""States in which a moderator's decision waits out its undo window, or has done so; triage dismisses for good."""

ENDED = (CaseState.RELEASED, *TURNED_DOWN, CaseState.ESCALATED)
"""States in which a case rests until somebody opens it again or appeals against it."""

_APPROVAL = Change((CaseState.PENDING,), (CaseState.APPROVED,))
DECISIONS = {
    Action.CLAIM: Change((CaseState.PENDING,)),
    Action.RELEASE: Change((CaseState.PENDING, CaseState.GROUNDED, CaseState.TRIAGED)),
    Action.APPROVE: _APPROVAL,
    Action.EDIT: _APPROVAL,
    Action.REJECT: Change((CaseState.PENDING,), (CaseState.REJECTED,)),
    Action.DISMISS: Change((CaseState.PENDING,), (CaseState.DISMISSED,)),
    # With another strategy a case goes back to be grounded: its plan may need a model and another search.
    Action.REDRAFT: Change((CaseState.PENDING, CaseState.FAILED), (CaseState.GROUNDED, CaseState.TRIAGED)),
    Action.UNDO: Change(DECIDED, (CaseState.PENDING,)),
    Action.ASSIGN: Change((CaseState.GROUNDED, CaseState.PENDING, CaseState.ESCALATED)),
    # What triage ended has no evidence yet, so its way goes on from there.
    Action.REOPEN: Change((*TURNED_DOWN, CaseState.ESCALATED), (CaseState.TRIAGED, CaseState.GROUNDED)),
    Action.HAND_OVER: Change((CaseState.DISMISSED, CaseState.ESCALATED), (CaseState.ESCALATED,)),
    Action.HANDLE: Change(ENDED),
    Action.RETRACT: Change((CaseState.RELEASED,)),
}
"""What moderators may do in which state."""

EVENTS = {
    EventKind.NOTE: Change(tuple(CaseState)),
    EventKind.APPEAL: Change(ENDED),
    EventKind.EVIDENCE: Change((CaseState.PENDING,)),
}
"""What can be added in which state, on whatever version of the case; it stays where it is."""

PUBLICATION = Change((CaseState.APPROVED,), (CaseState.RELEASED,))
"""The reply is on its topic."""
FAILURE = Change(UNFINISHED, (CaseState.FAILED,))
"""A stage's message went to the dead letters."""
REPLAY = Change((CaseState.FAILED,), UNFINISHED)
"""A dead letter is sent again."""

ERASURE = Change((*UNFINISHED, CaseState.PENDING, CaseState.APPROVED, CaseState.FAILED), (CaseState.DISMISSED,))
"""The texts of a case that could still go on are erased. It is no step in a case's life: it may befall any state,
closed ones keep theirs, and none is left afterwards."""


def goes_on(route: Route) -> bool:
    """Tell whether a post with this route gets evidence and reaches the moderators."""
    return ROUTES[route] in UNFINISHED


def fails_in(stage: StageName, *, undelivered: bool = False) -> tuple[CaseState, ...]:
    """Return the states in which `stage` can fail a case: one that fails on a late message ends nothing further on.

    Where the stage's result was `undelivered`, the case may already stand where the stage has moved it.
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
"""Every (from, to) that a case's history may show; new cases come from None."""
