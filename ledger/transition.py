"""One transition of one case: a compare-and-set on state and version, together with its row in the history."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, bindparam, update
from sqlalchemy.sql.dml import ReturningUpdate

from core.domain import Action, CaseState, EventKind
from ledger.chain import PREVIOUS, append
from ledger.connection import Connection
from ledger.tables import cases

MACHINE = "machine"
"""The name that the history records for automatic steps."""

UNCLAIMED: dict[str, Any] = {"claimed_by": None, "claimed_until": None}
UNDECIDED: dict[str, Any] = {
    "decided_by": None, "decided_why": None, "final_text": None, "release_at": None, "handled": False,
    "appealed": False,
}  # fmt: skip


@dataclass(frozen=True)
class Move:
    """A planned transition: from which states, to which, by whom and why, and the columns that change with it.

    If `to` is None, the case keeps its state (a claim). If `who` is None, the history names the moderator who decided
    the case. `text` is the text that comes with the transition (a draft, an approved reply), for the history's chain.
    """

    states: Collection[CaseState]
    to: CaseState | None
    at: datetime
    who: str | None
    why: str
    values: dict[str, Any] = field(default_factory=dict)
    kind: Action | EventKind | None = None
    text: str | None = None


async def move(
    connection: Connection, key: str, planned: Move, *conditions: ColumnElement[bool], **parameters: object
) -> RowMapping | None:
    """Make the transition and return the case's new row, or None if the case is not in one of `planned.states`.

    A single UPDATE decides, so of two concurrent callers one gets None. `conditions` must be module constants, so that
    the statement is built only once; `parameters` fill their bindparams, whose names must differ from all columns. A
    case whose texts were erased never moves again.
    """
    statement = _statement(tuple(planned.states), planned.to, tuple(planned.values), conditions)
    values = {f"new_{column}": value for column, value in planned.values.items()}
    result = await connection.execute(statement, {"case": key, "moved_at": planned.at, **values, **parameters})
    row: RowMapping | None = result.mappings().one_or_none()
    if row is not None:
        await append(connection, {
            "case_key": key, "version": row["version"], "from_state": row["previous_state"], "to_state": row["state"],
            "at": planned.at, "who": row["decided_by"] if planned.who is None else planned.who, "why": planned.why,
            "kind": planned.kind,
        }, row["previous_digest"], planned.text)  # fmt: skip
    return row


@lru_cache(maxsize=128)
def _statement(
    states: tuple[CaseState, ...], to: CaseState | None, columns: tuple[str, ...],
    conditions: tuple[ColumnElement[bool], ...],
) -> ReturningUpdate[Any]:  # fmt: skip
    return (
        update(cases)
        .where(cases.c.key == bindparam("case"), cases.c.state.in_(states), cases.c.erased_at.is_(None), *conditions)
        .values(
            state=cases.c.state if to is None else to,
            previous_state=cases.c.state,
            version=cases.c.version + 1,
            updated_at=bindparam("moved_at"),
            **{column: bindparam(f"new_{column}") for column in columns},
        )
        .returning(*cases.c, PREVIOUS)
    )
