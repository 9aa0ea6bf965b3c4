"""The ledger's methods for the stream's stages; each call is one transaction and safe to repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, bindparam, insert, select, tuple_

from core.domain import STORED, CaseState, Draft, DraftRequest, FlaggedPost, Grounding, Triage, clean
from core.errors import CaseNotFound, NotAllowed
from core.lifecycle import FAILURE, REPLAY, ROUTES, STAGES, StageName, fails_in
from ledger.chain import append_first
from ledger.connection import Connection
from ledger.database import Database
from ledger.outbox_messages import enqueue, outcome, withdraw
from ledger.privacy import Pseudonyms
from ledger.rows import new_row, request_columns
from ledger.tables import cases, drafts, group_mask
from ledger.transition import MACHINE, UNCLAIMED, Move, move
from ledger.uninterrupted import uninterrupted


class Step(Enum):
    """The result of a stage's call, and so what its worker must do next."""

    MOVED = auto()
    """This call moved the case: send its message downstream."""
    AGAIN = auto()
    """The case is already where this call would have moved it (a redelivery): send the message again."""
    LATE = auto()
    """The case has moved further or ended: drop the message."""


@dataclass(frozen=True)
class Standing:
    """The state of a case that a call did not move, and the number of its requested or newest draft."""

    state: CaseState
    request_number: int

    def step(self, to: CaseState, number: int | None = None) -> Step:
        """Return the step for a call that would have moved the case to `to`, for draft `number` if given."""
        return Step.AGAIN if self.state is to and number in (None, self.request_number) else Step.LATE


@dataclass(frozen=True)
class OnFile:
    """A post as the ledger first received it; if two texts have the same key, moderators see the first.

    `duplicate_of` is the key of the first case in which the same author sent the same text to the platform. Only the
    later case is a duplicate, and posts without an author id never are. `state` is the case's state, `triage` its
    triage, if it has been triaged, and `number` that of the requested or newest draft.
    """

    post: FlaggedPost
    duplicate_of: str | None
    state: CaseState
    triage: Triage | None
    number: int


MAX_ERROR = 2_000
"""Longest error text stored with a case, in characters."""

(_GROUNDED,) = STAGES[StageName.GROUND].leads_to
(_PENDING,) = STAGES[StageName.DESK].leads_to
(_FAILED,) = FAILURE.leads_to
_NEEDS: dict[CaseState, ColumnElement[bool]] = {
    CaseState.TRIAGED: cases.c.triage.is_not(None),
    CaseState.GROUNDED: cases.c.grounding.is_not(None),
}
"""What a failed case must have to return to a state."""

_ASKED_FOR = cases.c.request_number == bindparam("asked_for")
_PLACE = select(cases.c.state, cases.c.request_number).where(cases.c.key == bindparam("case"))
_STANDING = _PLACE.with_for_update()
_earlier = cases.alias("earlier")
_EARLIER = (
    select(_earlier.c.key)
    .where(
        _earlier.c.fingerprint == cases.c.fingerprint,
        tuple_(_earlier.c.received_at, _earlier.c.key) < tuple_(cases.c.received_at, cases.c.key),
    )
    .order_by(_earlier.c.received_at, _earlier.c.key)
    .limit(1)
    .scalar_subquery()
    .label("earlier")
)
_ON_FILE = select(cases.c.post, cases.c.state, cases.c.triage, cases.c.request_number, _EARLIER).where(
    cases.c.key == bindparam("own")
)


class Stages:
    """The automatic steps of a case: received, triaged, grounded, drafted, failed."""

    def __init__(self, database: Database, pseudonyms: Pseudonyms) -> None:
        self._database = database
        self._pseudonyms = pseudonyms

    @uninterrupted
    async def receive(self, posts: Sequence[FlaggedPost]) -> int:
        """Record flagged posts and return how many were new; known ones stay unchanged."""
        if not posts:
            return 0
        at = self._database.clock()
        # Of two posts with the same key the first counts, both in the case and in its history.
        first_posts = {post.key: post for post in reversed(posts)}
        # Sorted by key, so that two batches with the same posts can't deadlock.
        rows = [new_row(post, self._pseudonyms, at) for _, post in sorted(first_posts.items())]
        insert_posts = self._database.insert_new(cases).returning(cases.c.key)
        async with self._database.write() as connection:
            new = (await connection.execute(insert_posts, rows)).scalars().all()
            if new:
                posts_on_file = {row["key"]: row["post"] for row in rows}
                await append_first(connection, [(_received(key, at), posts_on_file[key]) for key in new])
        return len(new)

    @uninterrupted
    async def on_file(self, post: FlaggedPost) -> OnFile:
        """Return the post as the ledger first received it, and what it duplicates; a new post is recorded first."""
        row = await self._on_file(post.key)
        if row is None:
            await self.receive([post])
            row = await self._on_file(post.key)
        if row is None:
            raise CaseNotFound(f"there is no case {post.key}; it was removed just now")
        first = FlaggedPost.model_validate_json(row["post"], context=STORED)
        return OnFile(
            first.model_copy(update={"author_id": post.author_id, "thread_id": post.thread_id}),
            row["earlier"],
            CaseState(row["state"]),
            Triage.model_validate_json(row["triage"], context=STORED) if row["triage"] else None,
            row["request_number"],
        )

    @uninterrupted
    async def is_asked_for(self, key: str, number: int) -> bool:
        """Tell whether a case is waiting for the draft with this number; False for an unknown case."""
        async with self._database.read(single=True) as connection:
            row = (await connection.execute(_PLACE, {"case": clean(key)})).one_or_none()
        return row is not None and row.state == STAGES[StageName.DRAFT].takes and row.request_number == number

    @uninterrupted
    async def triage(self, post: FlaggedPost, triage: Triage) -> Step:
        """Record the triage of a post, and its case if it is new; dismissed and escalated cases end here."""
        try:
            return await self._triage(post, triage)
        except CaseNotFound:
            # In a separate, durable transaction, because the post's message may be acknowledged before a power loss.
            await self.receive([post])
            return await self._triage(post, triage)

    @uninterrupted
    async def ground(self, key: str, grounding: Grounding, request: DraftRequest) -> Step:
        """Record the evidence for a requested draft, unless another has been requested since. Raises CaseNotFound."""
        values = {"grounding": grounding.model_dump_json(), **request_columns(request)}
        why = clean(grounding.note) or f"evidence found: {len(grounding.evidence)}"
        planned = _planned(StageName.GROUND, _GROUNDED, self._database.clock(), why, values)
        async with self._database.write(durable=False) as connection:
            moved = await _move_or_look(connection, key, planned, _ASKED_FOR, asked_for=request.number)
        return moved.step(_GROUNDED, request.number) if isinstance(moved, Standing) else Step.MOVED

    @uninterrupted
    async def draft(self, draft: Draft) -> Step:
        """Record the draft that the case is waiting for, once per request. Raises CaseNotFound."""
        why = clean(draft.note) or f"draft {draft.number} from {draft.origin}"
        row = {"case_key": draft.case_key, "number": draft.number, "draft": draft.model_dump_json()}
        planned = _planned(StageName.DESK, _PENDING, self._database.clock(), why, text=str(row["draft"]))
        async with self._database.write(durable=False) as connection:
            moved = await _move_or_look(connection, draft.case_key, planned, _ASKED_FOR, asked_for=draft.number)
            if isinstance(moved, Standing):
                return moved.step(_PENDING, draft.number)
            await connection.execute(insert(drafts), row)
        return Step.MOVED

    @uninterrupted
    async def fail(
        self, key: str, stage: StageName, error: str, *, undelivered: bool = False, number: int | None = None
    ) -> bool:
        """Fail a case whose message became a dead letter; tell whether this call did so.

        A case that has moved beyond `stage`, was decided or has ended stays as it is, and so does one that waits for
        another draft than `number`, if the message names one; an unknown case is ignored. `undelivered` means that the
        stage did its work but its result could not be sent.
        """
        at = self._database.clock()
        error = clean(error)[:MAX_ERROR]
        values = {"error": error, **UNCLAIMED}
        planned = Move(
            fails_in(stage, undelivered=undelivered), _FAILED, at, MACHINE, clean(f"{stage}: {error}"), values
        )
        async with self._database.write(durable=False) as connection:
            if number is None:
                row = await move(connection, clean(key), planned)
            else:
                row = await move(connection, clean(key), planned, _ASKED_FOR, asked_for=number)
            if row is not None:
                await enqueue(connection, outcome(row, at, MACHINE, planned.why), at)
        return row is not None

    @uninterrupted
    async def revive(self, key: str, to: CaseState) -> Step:
        """Return a failed case to state `to`, to replay its dead letter; an unsent outcome of the failure is cancelled.

        Raises CaseNotFound, or NotAllowed if the case lacks what `to` needs.
        """
        if to not in REPLAY.leads_to:
            raise NotAllowed(f"a failed case can't become {to}; revive it to {', '.join(REPLAY.leads_to)}")
        needs = [_NEEDS[to]] if to in _NEEDS else []
        planned = Move(REPLAY.takes, to, self._database.clock(), MACHINE, "replayed", {"error": None})
        async with self._database.write() as connection:
            moved = await _move_or_look(connection, key, planned, *needs)
            if not isinstance(moved, Standing):
                await withdraw(connection, key)
                return Step.MOVED
        if moved.state in REPLAY.takes:
            raise NotAllowed(f"case {key} has not got as far as {to}; revive it to an earlier state")
        return moved.step(to)

    async def _on_file(self, key: str) -> RowMapping | None:
        async with self._database.read(single=True) as connection:
            return (await connection.execute(_ON_FILE, {"own": key})).mappings().one_or_none()

    async def _triage(self, post: FlaggedPost, triage: Triage) -> Step:
        at = self._database.clock()
        to = ROUTES[triage.route]
        groups = group_mask(score.group for score in triage.groups)
        doubtful = triage.leaves_in_doubt(DraftRequest())
        values = {"triage": triage.model_dump_json(), "groups": groups, "doubtful": doubtful}
        planned = _planned(StageName.TRIAGE, to, at, clean(triage.reason), values)
        async with self._database.write(durable=False) as connection:
            moved = await _move_or_look(connection, post.key, planned)
            if isinstance(moved, Standing):
                return moved.step(to)
            if to is not CaseState.TRIAGED:
                await enqueue(connection, outcome(moved, at, MACHINE, planned.why), at)
        return Step.MOVED


async def _move_or_look(
    connection: Connection, key: str, planned: Move, *conditions: ColumnElement[bool], **parameters: object
) -> RowMapping | Standing:
    """Make the move and return the case's new row, or return where the case stands. Raises CaseNotFound.

    On PostgreSQL a statement sees only what was committed before it began. Between a move that finds nothing and a look
    at the case, another worker may therefore bring the case to where the move starts from. So the look locks the row,
    and if the case is then in such a state, the move is tried again.
    """
    row = await move(connection, key, planned, *conditions, **parameters)
    if row is not None:
        return row
    locked_row = (await connection.execute(_STANDING, {"case": key})).one_or_none()
    if locked_row is None:
        raise CaseNotFound(f"there is no case {key}; send its post to the gateway first")
    standing = Standing(CaseState(locked_row.state), locked_row.request_number)
    if standing.state not in planned.states:
        return standing
    return await move(connection, key, planned, *conditions, **parameters) or standing


def _planned(
    stage: StageName, to: CaseState, at: datetime, why: str, values: dict[str, Any] | None = None,
    text: str | None = None,
) -> Move:  # fmt: skip
    return Move((STAGES[stage].takes,), to, at, MACHINE, why, values or {}, text=text)


def _received(key: str, at: datetime) -> dict[str, Any]:
    return {
        "case_key": key, "version": 1, "from_state": None, "to_state": CaseState.RECEIVED, "at": at, "who": MACHINE,
        "why": "flagged",
    }  # fmt: skip
