"""Moderators' decisions. Each call names the version that the moderator saw; of two concurrent decisions, one wins.

Every method returns the case after the change. It raises CaseNotFound, StaleVersion (somebody was faster),
ClaimedByOther (an unexpired claim; `force` overrides it), NotAllowed (not possible in this state) or LedgerUnavailable.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from core.domain import Action, Case, CaseState, DraftRequest, clean, is_edited
from core.errors import BadInput, NotAllowed, StaleVersion
from core.lifecycle import STAGES, TopicRole
from ledger.attempt import Attempt
from ledger.database import Database
from ledger.decided_move import move_as_decided
from ledger.outbox_messages import OutboxMessage, enqueue, outcome, reply, withdraw
from ledger.rows import newest_draft, request_columns, with_drafts
from ledger.tables import cases
from ledger.transition import UNCLAIMED, UNDECIDED
from ledger.uninterrupted import uninterrupted

_CLAIMED = cases.c.claimed_by.is_not(None)
_GROUNDED = cases.c.grounding.is_not(None)
_BY_A_MODERATOR = cases.c.decided_by.is_not(None)


class Decisions:
    """The decisions that moderators make on a case: claim, approve, reject, dismiss, redraft, undo."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def claim(self, key: str, version: int, who: str, until: datetime, force: bool = False) -> Case:
        """Claim a pending case for a moderator until a moment; their own claim is extended."""
        attempt = Attempt.of(key, version, who, "claim", force)
        values = {"claimed_by": attempt.who, "claimed_until": until}
        why = f"claimed until {until.isoformat(timespec='seconds')}"
        async with self._database.write() as connection:
            row = await move_as_decided(connection, self._database.clock(), attempt, Action.CLAIM, why, values)
            return await with_drafts(connection, row)

    @uninterrupted
    async def unclaim(self, key: str, version: int, who: str, force: bool = False) -> Case:
        """Give up a claim, also on a case that is waiting for its redraft."""
        attempt = Attempt.of(key, version, who, "unclaim", force)
        async with self._database.write() as connection:
            row = await move_as_decided(
                connection,
                self._database.clock(),
                attempt,
                Action.RELEASE,
                "unclaimed",
                UNCLAIMED,
                _CLAIMED,
                otherwise="is not claimed",
            )
            return await with_drafts(connection, row)

    @uninterrupted
    async def approve(
        self, key: str, version: int, who: str, text: str, why: str, release_at: datetime, force: bool = False
    ) -> Case:
        """Approve `text`, exactly as it is, for release at `release_at` unless undone before.

        The history records whether it is the newest draft or an edited text. Raises BadInput if the text is blank or
        has control characters that can't be stored.
        """
        _check_releasable(key, text)
        attempt = Attempt.of(key, version, who, "approve", force)
        values = _decided(attempt.who, why, release_at) | {"final_text": text}
        at = self._database.clock()
        async with self._database.write() as connection:
            edited = is_edited(text, await newest_draft(connection, attempt.key))
            action = Action.EDIT if edited else Action.APPROVE
            row = await move_as_decided(connection, at, attempt, action, why, values, text=text)
            case = await with_drafts(connection, row)
            await enqueue(connection, reply(case, text, attempt.who, at), at)
        return case

    @uninterrupted
    async def reject(
        self, key: str, version: int, who: str, reason: str, final_at: datetime, force: bool = False
    ) -> Case:
        """Reject a case; final at `final_at` (stored as `release_at`) unless undone before."""
        return await self._close(Attempt.of(key, version, who, "reject", force), Action.REJECT, reason, final_at)

    @uninterrupted
    async def dismiss(
        self, key: str, version: int, who: str, reason: str, final_at: datetime, force: bool = False
    ) -> Case:
        """Dismiss a case as not hateful; final at `final_at` (stored as `release_at`) unless undone before."""
        return await self._close(Attempt.of(key, version, who, "dismiss", force), Action.DISMISS, reason, final_at)

    @uninterrupted
    async def redraft(
        self, key: str, version: int, who: str, request: DraftRequest, message: str, force: bool = False,
        *, to: CaseState = CaseState.GROUNDED,
    ) -> Case:  # fmt: skip
        """Request another draft of a pending case, or of a failed one that has evidence; a claim stays.

        `message` is sent unchanged to the topic of the stage that takes cases in state `to`: grounded, or triaged for a
        new search. Raises BadInput if the request's number is not higher than the newest draft's.
        """
        attempt = Attempt.of(key, version, who, "redraft", force)
        by = f", by {request.strategy}" if request.strategy else ""
        why = clean(f"redraft {request.number}, {request.intent}{by}" + (f": {request.hint}" if request.hint else ""))
        (topic,) = {spec.reads for spec in STAGES.values() if spec.takes is to and spec.reads is not TopicRole.DRAFTS}
        values = {**request_columns(request), "doubtful": False, "error": None}
        at = self._database.clock()
        async with self._database.write() as connection:
            row = await move_as_decided(
                connection, at, attempt, Action.REDRAFT, why, values, _GROUNDED, to=to,
                otherwise="failed before it had evidence; replay its dead letter instead",
            )  # fmt: skip
            case = await with_drafts(connection, row)
            if case.draft is not None and request.number <= case.draft.number:
                raise BadInput(f"case {case.key} has a draft {case.draft.number}; ask for a higher number")
            await withdraw(connection, case.key)
            await enqueue(connection, OutboxMessage(case.key, topic, message, at), at)
        return case

    @uninterrupted
    async def undo(self, key: str, version: int, who: str) -> Case:
        """Undo a moderator's decision, while its message is waiting and no publisher has leased it."""
        attempt = Attempt.of(key, version, who, "undo", force=True)
        async with self._database.write() as connection:
            try:
                row = await move_as_decided(
                    connection, self._database.clock(), attempt, Action.UNDO, "undone", UNDECIDED, _BY_A_MODERATOR,
                    otherwise="was dismissed by triage; there is no decision to undo",
                )  # fmt: skip
            except StaleVersion as stale:
                if stale.case is None or stale.case.state is not CaseState.RELEASED:
                    raise
                raise NotAllowed(f"case {attempt.key} was already released; it can't be undone", stale.case) from None
            if not await withdraw(connection, attempt.key):
                raise _too_late_to_undo(attempt.key, row["previous_state"])
            return await with_drafts(connection, row)

    async def _close(self, attempt: Attempt, action: Action, reason: str, final_at: datetime) -> Case:
        """End a case without a reply, and queue its outcome for when that is final."""
        values = _decided(attempt.who, reason, final_at)
        at = self._database.clock()
        async with self._database.write() as connection:
            row = await move_as_decided(connection, at, attempt, action, reason, values)
            await enqueue(connection, outcome(row, at, attempt.who, clean(reason), final_at), at)
            return await with_drafts(connection, row)


def _too_late_to_undo(key: str, state: CaseState) -> NotAllowed:
    if state == CaseState.APPROVED:
        return NotAllowed(f"case {key} is being released or was already released; it can't be undone")
    return NotAllowed(f"case {key} is {state}, and the time to undo that is over; open it again instead")


def _decided(who: str, why: str, release_at: datetime) -> dict[str, Any]:
    return {"decided_by": who, "decided_why": clean(why), "release_at": release_at, **UNCLAIMED}


def _check_releasable(key: str, text: str) -> None:
    if not text.strip():
        raise BadInput(f"the text approved for case {key} is empty; write a reply or reject the case")
    if clean(text) != text:
        raise BadInput(f"the text approved for case {key} has control characters; remove them, then approve it")
