"""What people do with a case besides deciding on its draft, before and after its end.

The methods that take a version return and raise the same as those of `ledger.decisions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update

from core.domain import Action, Case, CaseState, DraftRequest, EventKind, Evidence, Grounding, Note, Triage, clean
from core.errors import CaseNotFound, NotAllowed
from core.lifecycle import EVENTS, TopicRole
from ledger.attempt import Attempt
from ledger.chat_tables import assignments, cards
from ledger.connection import Connection
from ledger.database import Database
from ledger.decided_move import move_as_decided
from ledger.outbox_messages import OutboxMessage, appeal, enqueue, outcome, retraction, withdraw
from ledger.rows import NOTES, request_columns, with_drafts
from ledger.tables import cases
from ledger.transition import UNCLAIMED, UNDECIDED, Move, move
from ledger.uninterrupted import uninterrupted

_NOT_RETRACTED = cases.c.retracted_at.is_(None)
_UNSETTLE = update(cards).where(cards.c.case_key == bindparam("case")).values(unsettled=True)
_LOCKED = select(cases).where(cases.c.key == bindparam("case")).with_for_update()
_REFUSED = {
    EventKind.APPEAL: "nothing has ended that one could appeal against",
    EventKind.EVIDENCE: "only a case that waits takes more evidence",
}
MAX_WORDS = 2_000
_UNASSIGN = delete(assignments).where(assignments.c.case_key == bindparam("case"))


@dataclass(frozen=True)
class Reopening:
    """How a reopened case continues: its new state `to`, and the draft that is requested.

    `message` is sent unchanged to the topic of the next stage. If `triage` is None, the case keeps its triage.
    """

    message: str
    to: CaseState
    request: DraftRequest
    triage: Triage | None = None


class Casework:
    """Actions on a case other than decisions on its draft: assign, reopen, hand over, handle, retract, add to it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def assign(self, key: str, version: int, who: str, assignee: str, why: str) -> Case:
        """Assign a case to a moderator; a claim stays as it is."""
        attempt = Attempt.of(key, version, who, "assign", force=True)
        at = self._database.clock()
        row = {"case_key": attempt.key, "assignee": clean(assignee), "who": attempt.who, "at": at}
        async with self._database.write() as connection:
            moved = await move_as_decided(connection, at, attempt, Action.ASSIGN, why, {})
            await connection.execute(_UNASSIGN, {"case": attempt.key})
            await connection.execute(insert(assignments), row)
            return await with_drafts(connection, moved)

    @uninterrupted
    async def reopen(self, key: str, version: int, who: str, why: str, way: Reopening) -> Case:
        """Reopen a case that ended without a reply and have it drafted; an outcome not yet sent is cancelled."""
        topic = TopicRole.GROUNDED if way.to is CaseState.GROUNDED else TopicRole.TRIAGED
        values = {**request_columns(way.request), **UNDECIDED, **UNCLAIMED, "doubtful": False}
        if way.triage is not None:
            values["triage"] = way.triage.model_dump_json()
        at = self._database.clock()
        async with self._database.write() as connection:
            attempt = Attempt.of(key, version, who, "reopen")
            row = await move_as_decided(connection, at, attempt, Action.REOPEN, why, values, to=way.to)
            await withdraw(connection, row["key"])
            await enqueue(connection, OutboxMessage(row["key"], topic, way.message, at), at)
            return await _shown_anew(connection, row)

    @uninterrupted
    async def hand_over(self, key: str, version: int, who: str, why: str) -> Case:
        """Hand a case over to people outside the queue; a dismissed case becomes escalated, its new outcome."""
        attempt = Attempt.of(key, version, who, "escalate")
        values = {"handled": False, "decided_by": attempt.who, "decided_why": clean(why), "release_at": None}
        at = self._database.clock()
        async with self._database.write() as connection:
            row = await move_as_decided(connection, at, attempt, Action.HAND_OVER, why, values)
            if row["previous_state"] != row["state"]:
                await withdraw(connection, attempt.key)
                await enqueue(connection, outcome(row, at, attempt.who, clean(why)), at)
            return await _shown_anew(connection, row)

    @uninterrupted
    async def handle(self, key: str, version: int, who: str, why: str) -> Case:
        """Mark a case as dealt with; this also answers an appeal."""
        attempt = Attempt.of(key, version, who, "handle")
        values = {"handled": True, "appealed": False}
        at = self._database.clock()
        async with self._database.write() as connection:
            row = await move_as_decided(connection, at, attempt, Action.HANDLE, why, values)
            return await _shown_anew(connection, row)

    @uninterrupted
    async def retract(self, key: str, version: int, who: str, why: str) -> Case:
        """Queue, at most once per case, the request to the platform to take a released reply back."""
        attempt = Attempt.of(key, version, who, "retract")
        at = self._database.clock()
        values = {"retracted_at": at, "handled": True, "appealed": False}
        async with self._database.write() as connection:
            row = await move_as_decided(
                connection, at, attempt, Action.RETRACT, why, values, _NOT_RETRACTED, otherwise="was retracted before"
            )
            case = await _shown_anew(connection, row)
            await enqueue(connection, retraction(case, at, attempt.who, clean(why)), at)
        return case

    @uninterrupted
    async def note(self, key: str, who: str, text: str) -> Case:
        """Add a moderator's note to a case, whatever its version. Raises CaseNotFound, NotAllowed if erased."""
        async with self._database.write() as connection:
            case = await _locked(connection, key)
            return await self._add(connection, case, EventKind.NOTE, who, text, {})

    @uninterrupted
    async def appeal(self, key: str, who: str, text: str) -> Case:
        """Put a closed case into the queue of appeals and queue the event. Raises CaseNotFound or NotAllowed.

        If an appeal is already waiting, nothing changes.
        """
        async with self._database.write() as connection:
            case = await _locked(connection, key)
            if case.appealed:
                return case
            values = {"appealed": True, "handled": False}
            case = await self._add(connection, case, EventKind.APPEAL, who, text, values)
            await enqueue(connection, appeal(case, case.updated_at, clean(who)), case.updated_at)
        return case

    @uninterrupted
    async def add_evidence(self, key: str, who: str, piece: Evidence) -> Case:
        """Put a statement first among a pending case's evidence. Raises CaseNotFound or NotAllowed.

        A statement that is already among the evidence only moves to the front.
        """
        async with self._database.write() as connection:
            case = await _locked(connection, key)
            grounding = case.grounding or Grounding(evidence=())
            others = tuple(known for known in grounding.evidence if known.id != piece.id)
            grounding = grounding.model_copy(update={"evidence": (piece, *others), "note": ""})
            values = {"grounding": grounding.model_dump_json()}
            words = f"{piece.source.institution}, {piece.source.title}: {piece.text}"
            return await self._add(connection, case, EventKind.EVIDENCE, who, words[:MAX_WORDS], values)

    async def _add(
        self, connection: Connection, case: Case, kind: EventKind, who: str, text: str, values: dict[str, Any]
    ) -> Case:
        if case.erased_at is not None:
            raise NotAllowed(f"the texts of case {case.key} were erased; nothing can be added to it any more", case)
        at = self._database.clock()
        note = Note(kind=kind, version=case.version + 1, at=at, who=clean(who), text=clean(text))
        values = {**values, "notes": NOTES.dump_json((*case.notes, note)).decode()}
        row = await move(connection, case.key, Move(EVENTS[kind].takes, None, at, note.who, "", values, kind))
        if row is None:
            raise NotAllowed(f"case {case.key} is {case.state}: {_REFUSED[kind]}", case)
        return await _shown_anew(connection, row)


async def _locked(connection: Connection, key: str) -> Case:
    """Return a case, locked against changes until the transaction ends. Raises CaseNotFound."""
    row = (await connection.execute(_LOCKED, {"case": clean(key)})).mappings().one_or_none()
    if row is None:
        raise CaseNotFound(f"there is no case {clean(key)}; look its key up in the queue")
    return await with_drafts(connection, row)


async def _shown_anew(connection: Connection, row: Any) -> Case:
    """Return the case in a new row, and have its cards updated even if they showed its end."""
    await connection.execute(_UNSETTLE, {"case": row["key"]})
    return await with_drafts(connection, row)
