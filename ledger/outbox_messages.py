"""The messages that the ledger puts into its outbox: approved replies, outcomes, and cases sent back for a draft."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from core.contract import IDEMPOTENCY_KEY, Appeal, Outcome, ReleasedReply, Retraction
from core.domain import Case, CaseState, is_edited
from core.lifecycle import PUBLICATION, TopicRole
from ledger.connection import Connection
from ledger.tables import IS_OPEN, OutboxStatus, outbox


@dataclass(frozen=True)
class OutboxMessage:
    """One message to be sent when due; if `recallable`, undoing the decision cancels it."""

    case_key: str
    topic: TopicRole
    value: str
    due_at: datetime
    headers: dict[str, str] = field(default_factory=dict)
    recallable: bool = True


def reply(case: Case, text: str, who: str, at: datetime) -> OutboxMessage:
    """Return the message with the text that `who` approved for `case`, due when the undo window ends."""
    draft = case.draft
    released = ReleasedReply(
        case_key=case.key,
        platform=case.post.platform,
        post_id=case.post.post_id,
        text=text,
        approved_by=who,
        approved_at=at,
        draft_number=draft.number if draft else None,
        edited=is_edited(text, draft),
    )
    headers = {IDEMPOTENCY_KEY: f"reply:{case.key}"}
    return OutboxMessage(case.key, TopicRole.REPLIES, released.model_dump_json(), case.release_at or at, headers)


def outcome(row: Mapping[Any, Any], at: datetime, who: str, why: str, due_at: datetime | None = None) -> OutboxMessage:
    """Return the outcome of the case in `row`, which has just ended; due now unless `due_at` is given."""
    state = CaseState(row["state"])
    text = row["final_text"] if state in PUBLICATION.leads_to else None
    event = Outcome(case_key=row["key"], state=state, at=at, who=who, why=why, text=text)
    headers = {IDEMPOTENCY_KEY: f"outcome:{row['key']}:{row['version']}"}
    return OutboxMessage(row["key"], TopicRole.OUTCOMES, event.model_dump_json(), due_at or at, headers)


def retraction(case: Case, at: datetime, who: str, why: str) -> OutboxMessage:
    """Return the event by which `who` retracts the released reply of `case`; a case has at most one."""
    event = Retraction(
        case_key=case.key, platform=case.post.platform, post_id=case.post.post_id, at=at, who=who, why=why,
        text=case.final_text or "",
    )  # fmt: skip
    headers = {IDEMPOTENCY_KEY: f"retraction:{case.key}"}
    return OutboxMessage(case.key, TopicRole.OUTCOMES, event.model_dump_json(), at, headers, recallable=False)


def appeal(case: Case, at: datetime, who: str) -> OutboxMessage:
    """Return the event that somebody has appealed against the outcome of `case`."""
    event = Appeal(case_key=case.key, platform=case.post.platform, post_id=case.post.post_id, at=at, who=who)
    headers = {IDEMPOTENCY_KEY: f"appeal:{case.key}:{case.version}"}
    return OutboxMessage(case.key, TopicRole.OUTCOMES, event.model_dump_json(), at, headers, recallable=False)


_ENQUEUE = insert(outbox).inline()


async def enqueue(connection: Connection, message: OutboxMessage, at: datetime) -> None:
    """Put a message into the outbox, in the same transaction as the transition that caused it."""
    await connection.execute(_ENQUEUE, {
        "case_key": message.case_key, "topic": message.topic, "key": message.case_key, "value": message.value,
        "headers": json.dumps(message.headers), "due_at": message.due_at, "free_at": message.due_at,
        "status": OutboxStatus.WAITING, "attempts": 0, "created_at": at,
        "recallable": message.recallable,
    })  # fmt: skip


# A row that was ever leased may be on its topic even if the attempt failed, so it can't be recalled. Neither can one
# that a publisher has locked; skipping it also means that this never waits for a lock.
_RECALLABLE = (
    select(outbox.c.id)
    .where(
        IS_OPEN,
        outbox.c.case_key == bindparam("case"),
        outbox.c.status == OutboxStatus.WAITING,
        outbox.c.topic.in_((TopicRole.REPLIES, TopicRole.OUTCOMES)),
        outbox.c.attempts == 0,
        outbox.c.recallable.is_(True),
    )
    .with_for_update(skip_locked=True)
    .cte("recallable")
)
_WITHDRAW = (
    update(outbox)
    .where(outbox.c.id.in_(select(_RECALLABLE.c.id)))
    .values(status=OutboxStatus.CANCELLED)
    .returning(outbox.c.id)
)


async def withdraw(connection: Connection, key: str) -> bool:
    """Cancel the waiting reply or outcome of a case; tell whether there was one that no publisher had leased."""
    return bool((await connection.execute(_WITHDRAW, {"case": key})).all())
