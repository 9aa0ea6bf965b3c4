"""Move a case as a moderator decided, or raise an error that explains why it was refused."""

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

    It leads to `to`, by default to the action's first target state. `text` is the text that enters the history's chain
    with it. Raises the errors listed in `ledger.decisions`; `otherwise` is the explanation if one of `conditions` does
    not hold.
    """
    change = DECISIONS[action]
    to = to or (change.leads_to[0] if change.leads_to else None)
    planned = Move(change.takes, to, at, attempt.who, clean(why), values, action, text)
    parameters = {"seen": attempt.version, "forced": attempt.force, "decider": attempt.who}
    row = await move(connection, attempt.key, planned, _AS_SEEN, _FREE, *conditions, **parameters)
    if row is None:
        raise await conflict_of(connection, attempt, change.takes, at, otherwise)
    return row
