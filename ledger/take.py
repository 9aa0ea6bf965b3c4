"""One attempt of a moderator: the transition it asks for, or the error that says why it can't be had."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, ColumnElement, RowMapping, bindparam, or_

from core.domain import Action, CaseState, clean
from core.lifecycle import DECISIONS
from ledger.conflicts import Attempt, conflict
from ledger.connection import Connection
from ledger.tables import cases
from ledger.transition import Move, move

_AS_SEEN = cases.c.version == bindparam("seen")
_FREE = or_(
    bindparam("forced", type_=Boolean),
    cases.c.claimed_by.is_(None),
    cases.c.claimed_by == bindparam("taker"),
    cases.c.claimed_until <= bindparam("moved_at"),
)
_SAME_STATE = "did not change; look at it again"


def attempt_of(key: str, version: int, who: str, verb: str, force: bool = False) -> Attempt:
    """Return what a moderator tries, with texts that can be stored."""
    return Attempt(clean(key), version, clean(who), verb, force)


async def take(
    connection: Connection, at: datetime, attempt: Attempt, action: Action, why: str, values: dict[str, Any],
    *conditions: ColumnElement[bool], to: CaseState | None = None, otherwise: str = _SAME_STATE,
    text: str | None = None,
) -> RowMapping:  # fmt: skip
    """Make the transition of `action` and return the case's new row.

    It leads to `to`, or to where the action leads at all. Raises what stands above `ledger.decisions`; `otherwise`
    says what keeps `conditions` from holding; `text` is what comes with it into the history's chain.
    """
    change = DECISIONS[action]
    to = to or (change.leads_to[0] if change.leads_to else None)
    planned = Move(change.takes, to, at, attempt.who, clean(why), values, action, text)
    seen = {"seen": attempt.version, "forced": attempt.force, "taker": attempt.who}
    row = await move(connection, attempt.key, planned, _AS_SEEN, _FREE, *conditions, **seen)
    if row is None:
        raise await conflict(connection, attempt, change.takes, at, otherwise)
    return row
