"""The vocabulary every room shares. Nothing here imports another room.

A *case* is one flagged post and all that happened to it; its key is `platform/post_id`. `core/lifecycle.py` has the
states it passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

MAX_TEXT = 20_000
"""Longest post text taken, in characters; the longest public post formats stay well below it."""

ModeratorRole = Literal["reviewer", "lead", "admin"]
Role = Literal["platform", ModeratorRole]
"""What somebody may do here: a platform sends flags, moderators decide; leads and admins may also override."""

_UNSTORABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def now() -> datetime:
    """Return the current time, aware, in UTC."""
    return datetime.now(UTC)


def clean(text: str) -> str:
    """Drop control characters and lone surrogates: no database, log or terminal takes them safely."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _UNSTORABLE.sub("", text))


def _clean_if_text(value: object) -> object:
    return clean(value) if isinstance(value, str) else value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty; there is nothing to answer")
    return value


def _no_dots(value: str) -> str:
    if {".", ".."} & set(value.split("/")):
        raise ValueError("must not have `.` or `..` as a path segment; HTTP clients drop them from addresses")
    return value


def _as_utc(value: datetime) -> datetime:
    return value.astimezone(UTC)


Text = Annotated[str, BeforeValidator(_clean_if_text)]
Moment = Annotated[AwareDatetime, AfterValidator(_as_utc)]


class Record(BaseModel):
    """An immutable value that travels between rooms and over the wire."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class TargetGroup(StrEnum):
    """The people a post attacks."""

    WOMEN = "women"
    PEOPLE_OF_COLOUR = "people_of_colour"
    DISABLED = "disabled"
    MIGRANTS = "migrants"
    MUSLIMS = "muslims"
    JEWS = "jews"
    LGBT = "lgbt"
    OTHER = "other"


class Intent(StrEnum):
    """What a reply sets out to do: the four intents of CoARL (Hengle et al. 2024)."""

    INFORMATIVE = "informative"
    QUESTIONING = "questioning"
    DENOUNCING = "denouncing"
    POSITIVE = "positive"


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


class FlaggedPost(Record):
    """One post a platform flagged, as the platform sent it."""

    platform: Annotated[Text, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    post_id: Annotated[Text, Field(min_length=1, max_length=200, pattern=r"^\S+$"), AfterValidator(_no_dots)]
    text: Annotated[Text, Field(max_length=MAX_TEXT), AfterValidator(_not_blank)]
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")] | None = None
    author_id: Annotated[Text, Field(max_length=200)] | None = None
    url: Annotated[Text, Field(max_length=2000)] | None = None
    flagged_at: Moment | None = None
    reason: Annotated[Text, Field(max_length=500)] | None = None
    context: Annotated[tuple[Annotated[Text, Field(max_length=MAX_TEXT)], ...], Field(max_length=50)] = ()

    @property
    def key(self) -> str:
        """Return the case key, `platform/post_id`."""
        return f"{self.platform}/{self.post_id}"


class Route(StrEnum):
    """What triage decided to do with a post."""

    DRAFT = "draft"
    DISMISS = "dismiss"
    ESCALATE = "escalate"


class GroupScore(Record):
    """A target group, and how sure triage is of it, 0 to 1."""

    group: TargetGroup
    score: float


class Triage(Record):
    """The verdict of triage: whom the post attacks, how hateful it is, in what language, and what to do.

    `language` is ISO 639-1 or `und`. `groups` is ordered by falling score. `hate` is a probability. `embedding` is the
    post's query embedding as base64 of little-endian float16, so that grounding need not compute it again.
    """

    language: str
    groups: tuple[GroupScore, ...]
    hate: float
    route: Route
    reason: str
    embedding: str | None = None


class Source(Record):
    """The place where a statement can be looked up."""

    institution: str
    title: str
    symbol: str
    locator: str
    year: int
    url: str


class Evidence(Record):
    """One quotable statement with its source; `answers` lists claims it refutes, `score` is its relevance.

    `summary` stands for a long text in a draft's prompt and is empty for a short one. It was written by a model: what
    a reply states is checked against `text`.
    """

    id: str
    text: str
    summary: str = ""
    groups: tuple[TargetGroup, ...]
    source: Source
    answers: tuple[str, ...] = ()
    language: str = "en"
    score: float = 0.0


class Plan(Record):
    """What a strategy decided about a post before the search; whatever it does not need stays empty.

    `claims` are what the post asserts, `counter_claim` is the one sentence chosen to refute them, and `queries` are
    searched for beside the post itself.
    """

    strategy: str = ""
    claims: tuple[str, ...] = ()
    counter_claim: str = ""
    queries: tuple[str, ...] = ()


class Grounding(Record):
    """The evidence for a post, best first, and the plan it was searched with.

    The evidence is empty when nothing fits, and then `note` says so.
    """

    evidence: tuple[Evidence, ...]
    note: str = ""
    plan: Plan = Plan()


class Check(Record):
    """One result of the guard: what was measured, its limit, and whether it passed.

    A failed hard check keeps a draft from being shown, and a text from being approved without an override.
    """

    name: str
    passed: bool
    value: float
    threshold: float
    hard: bool = True
    detail: str = ""


def failed(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Return the hard checks that failed."""
    return tuple(check for check in checks if check.hard and not check.passed)


class Origin(StrEnum):
    """The author of a text."""

    MODEL = "model"
    COMPOSER = "composer"
    NONE = "none"


class Candidate(Record):
    """One reply that was considered: who wrote it, what the checks say, and its reward, 0 to 1.

    A costly check is missing where a cheap hard one had failed already; the reward then lacks what it adds.
    """

    text: str
    origin: Origin
    checks: tuple[Check, ...]
    reward: float = 0.0
    strategy: str = ""
    model: str = ""

    @property
    def passes(self) -> bool:
        """Tell whether every hard check passed."""
        return not failed(self.checks)


class DraftRequest(Record):
    """The draft a case asks for; `avoid` has replies already used in the thread or refused before."""

    number: int = 1
    intent: Intent = Intent.INFORMATIVE
    hint: str = ""
    avoid: tuple[str, ...] = ()


class Draft(Record):
    """What a moderator is shown. With `origin` none the text is empty and `note` says why nothing fits.

    `considered` counts every reply that was judged; `candidates` keeps them for evaluation and learning, the one shown
    first and then in the order they were made, as far as they fit (`pipeline.draft.bounded`). Drafts made by earlier
    versions have none.
    """

    case_key: str
    number: int
    text: str
    intent: Intent
    origin: Origin
    model: str
    language: str
    checks: tuple[Check, ...]
    considered: int = 0
    candidates: tuple[Candidate, ...] = ()
    note: str = ""
    created_at: Moment = Field(default_factory=now)


class Action(StrEnum):
    """What a moderator can do with a case."""

    CLAIM = "claim"
    RELEASE = "release"
    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    REDRAFT = "redraft"
    UNDO = "undo"


class Decision(Record):
    """What a moderator asked for, on the version they saw."""

    action: Action
    version: int
    text: Annotated[Text, Field(max_length=MAX_TEXT)] | None = None
    reason: Annotated[Text, Field(max_length=500)] | None = None
    intent: Intent | None = None
    hint: Annotated[Text, Field(max_length=500)] = ""
    override: bool = False


class Transition(Record):
    """One row of a case's append-only history."""

    id: int
    case_key: str
    version: int
    from_state: CaseState | None
    to_state: CaseState
    at: Moment
    who: str
    why: str


class Case(Record):
    """A case as the ledger knows it.

    `version` rises with every transition. `request` is the draft the case waits for or last got. `final_text` is the
    approved text, exactly as approved; it leaves at `release_at` unless undone.
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

    @property
    def key(self) -> str:
        """Return the case key, `platform/post_id`."""
        return self.post.key

    @property
    def draft(self) -> Draft | None:
        """Return the newest draft, if there is one."""
        return self.drafts[-1] if self.drafts else None


class Outcome(Record):
    """How a case ended, as published on the `outcomes` topic."""

    case_key: str
    state: CaseState
    at: Moment
    who: str
    why: str
    text: str | None = None
