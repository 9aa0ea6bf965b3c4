"""A case: one flagged post and all that happened to it; `core/lifecycle.py` has the states it passes."""

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
"""What somebody may do here: a platform sends flags, moderators decide; leads and admins may also override."""


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
    """What a moderator asked for, on the version they saw.

    `strategy` is the way in which a redraft is to come about; None leaves it as it was. `assignee` is whom an
    assignment names. `uncovered` tells whether they had the post itself before their eyes; None where that can't be
    known.
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
    """What can be added to a case without moving it, and without naming the version that was seen."""

    NOTE = "note"
    APPEAL = "appeal"
    EVIDENCE = "evidence"


class Transition(Record):
    """One row of a case's append-only history.

    `kind` is what a person did; None for what the machine did, and for rows of earlier releases.
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
    """A text that was added to a case: a moderator's note, why somebody appeals, or which evidence was added.

    `version` names its transition. The text is kept with the case, not in its history.
    """

    kind: EventKind
    version: int
    at: Moment
    who: str
    text: str


class Case(Record):
    """A case as the ledger knows it.

    `version` rises with every transition. `request` is the draft the case waits for or last got. `final_text` is the
    approved text, exactly as approved; it leaves at `release_at` unless undone. `handled`: somebody has seen to what
    had ended without a reply. `appealed`: an appeal waits for an answer. `retracted_at` is when the platform was told
    to take a released reply back. From `erased_at` on its texts are gone, and nothing happens to it any more.
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
        """Tell whether the case waits for a moderator to say if its post is hateful; nobody asked for a draft."""
        in_doubt = self.triage is not None and self.triage.leaves_in_doubt(self.request)
        return self.state is CaseState.PENDING and in_doubt
