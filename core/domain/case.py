"""A case: one flagged post and everything that happened to it. Its states are in `core/lifecycle.py`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from core.domain.draft import Draft, DraftRequest
from core.domain.evidence import Grounding
from core.domain.post import FlaggedPost
from core.domain.record import MAX_TEXT, Intent, Moment, Record, StrategyName, Text
from core.domain.triage import Triage

ModeratorRole = Literal["reviewer", "lead", "admin"]
Role = Literal["platform", "monitor", ModeratorRole]
"""What a caller may do: `platform` sends flags, `monitor` reads the metrics, the moderators' roles decide; leads and
admins may also override."""


class CaseState(StrEnum):
    """Where a case stands."""

    RECEIVED = "received"
    TRIAGED = "triaged"
    GROUNDED = "grounded"
    PENDING = "pending"
    APPROVED = "approved"
    RELEASED = "released"
    REJECTED = "rejected"
    DISMISSED = "dismissed"
    ESCALATED = "escalated"
    FAILED = "failed"


class Action(StrEnum):
    """What a moderator can do with a case."""

    CLAIM = "claim"
    RELEASE = "release"
    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    DISMISS = "dismiss"
    REDRAFT = "redraft"
    UNDO = "undo"
    ASSIGN = "assign"
    REOPEN = "reopen"
    HAND_OVER = "hand_over"
    HANDLE = "handle"
    RETRACT = "retract"


class Decision(Record):
    """What a moderator requested, and the version of the case they saw.

    `strategy` is the strategy of a redraft; None keeps the case's strategy. `assignee` is the moderator that an
    assignment names. `uncovered` tells whether the post was uncovered on their screen; None if that is unknown.
    """

    action: Action
    version: int
    text: Annotated[Text, Field(max_length=MAX_TEXT)] | None = None
    reason: Annotated[Text, Field(max_length=500)] | None = None
    intent: Intent | None = None
    strategy: StrategyName | None = None
    hint: Annotated[Text, Field(max_length=500)] = ""
    override: bool = False
    uncovered: bool | None = None
    assignee: Annotated[Text, Field(min_length=1, max_length=200)] | None = None


class EventKind(StrEnum):
    """What can be added to a case without changing its state and without stating which version was seen."""

    NOTE = "note"
    APPEAL = "appeal"
    EVIDENCE = "evidence"


class Transition(Record):
    """One row of a case's append-only history.

    `kind` is set for what a person did; it is None for automatic steps and for rows of earlier releases.
    """

    id: int
    case_key: str
    version: int
    from_state: CaseState | None
    to_state: CaseState
    at: Moment
    who: str
    why: str
    kind: Action | EventKind | None = None


class Note(Record):
    """A text added to a case: a moderator's note, the reason for an appeal, or which evidence was added.

    `version` is the version of the transition it belongs to. The text is stored with the case, not in the history, so
    that it can be erased.
    """

    kind: EventKind
    version: int
    at: Moment
    who: str
    text: str


class Case(Record):
    """A case as stored in the ledger.

    - `version` rises with every transition.
    - `request` is the draft that the case is waiting for, or last received.
    - `final_text` is the approved text, exactly as approved; it is published at `release_at` unless the approval is
      undone.
    - `handled`: somebody has dealt with a case that ended without a reply.
    - `appealed`: an appeal is waiting for an answer.
    - `retracted_at` is when the platform was asked to take a released reply back.
    - `erased_at` is when the case's texts were erased; nothing happens to the case afterwards.
    """

    post: FlaggedPost
    state: CaseState
    version: int
    received_at: Moment
    updated_at: Moment
    triage: Triage | None = None
    grounding: Grounding | None = None
    request: DraftRequest = DraftRequest()
    drafts: tuple[Draft, ...] = ()
    claimed_by: str | None = None
    claimed_until: Moment | None = None
    decided_by: str | None = None
    decided_why: str | None = None
    final_text: str | None = None
    release_at: Moment | None = None
    error: str | None = None
    handled: bool = False
    appealed: bool = False
    retracted_at: Moment | None = None
    notes: tuple[Note, ...] = ()
    erased_at: Moment | None = None

    @property
    def key(self) -> str:
        """Return the case key, `platform/post_id`."""
        return self.post.key

    @property
    def draft(self) -> Draft | None:
        """Return the newest draft, if there is one."""
        return self.drafts[-1] if self.drafts else None

    @property
    def doubtful(self) -> bool:
        """Tell whether a moderator must first decide if the post is hateful, and no draft has been requested yet."""
        in_doubt = self.triage is not None and self.triage.leaves_in_doubt(self.request)
        return self.state is CaseState.PENDING and in_doubt
