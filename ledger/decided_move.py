"""Move a case as a moderator decided, or raise the error that says why not."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, ColumnElement, RowMapping, bindparam, or_

from core.domain import Action, CaseState, clean
from core.lifecycle import DECISIONS
from ledger.attempt import Attempt
from ledger.conflicts import conflict_of
from ledger.connection import Connection
from ledger.tables import cases
from ledger.transition import Move, move

_AS_SEEN = cases.c.version == bindparam("seen")
_FREE = or_(
    bindparam("forced", type_=Boolean),
    cases.c.claimed_by.is_(None),
    cases.c.claimed_by == bindparam("decider"),
    cases.c.claimed_until <= bindparam("moved_at"),
)
_NOTHING_KNOWN = "did not change; look at it again"


async def move_as_decided(
    connection: Connection, at: datetime, attempt: Attempt, action: Action, why: str, values: dict[str, Any],
    *conditions: ColumnElement[bool], to: CaseState | None = None, otherwise: str = _NOTHING_KNOWN,
    text: str | None = None,
) -> RowMapping:  # fmt: skip
    """Make the transition of `action` and return the case's new row.

    It leads to `to`, or to where the action leads at all. Raises what stands above `ledger.decisions`; `otherwise`
    says what keeps `conditions` from holding; `text` is what comes with it into the history's chain.
    """
    change = DECISIONS[action]
    to = to or (change.leads_to[0] if change.leads_to else None)
    planned = Move(change.takes, to, at, attempt.who, clean(why), values, action, text)
    parameters = {"seen": attempt.version, "forced": attempt.force, "decider": attempt.who}
    row = await move(connection, attempt.key, planned, _AS_SEEN, _FREE, *conditions, **parameters)
    if row is None:
        raise await conflict_of(connection, attempt, change.takes, at, otherwise)
    return row
