"""What happened in a period, counted from the history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import func, select

from core.domain import Action, CaseState, DraftRequest, Intent, TargetGroup
from core.lifecycle import DECIDED
from ledger.chat_tables import cards
from ledger.database import Database
from ledger.tables import IS_DECISION, IS_RECEIPT, cases, groups_of, history
from ledger.uninterrupted import uninterrupted


@dataclass(frozen=True)
class CountedDecision:
    """The last decision on a case in the period; `edited` means that the moderator's own text was approved."""

    key: str
    platform: str
    groups: tuple[TargetGroup, ...]
    intent: Intent
    state: CaseState
    edited: bool
    who: str
    why: str
    received_at: datetime
    decided_at: datetime


@dataclass(frozen=True)
class Period:
    """What was received and decided since a moment, without decisions that were undone."""

    since: datetime
    received: int
    decided: tuple[CountedDecision, ...]


class Statistics:
    """Counts based on the history."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def since(self, moment: datetime, shown_on: tuple[str, str] | None = None) -> Period:
        """Return what was received and decided since a moment, decisions in order of time.

        `shown_on`, a surface and a server, limits this to cases that have a card there.
        """
        received = select(func.count()).select_from(history).where(history.c.at >= moment, IS_RECEIPT)
        decided = (
            select(
                history.c.id, history.c.case_key, history.c.to_state, history.c.from_state, history.c.at, history.c.who,
                history.c.why, history.c.kind, cases.c.platform, cases.c.groups, cases.c.request, cases.c.received_at,
            )
            .join(cases, cases.c.key == history.c.case_key)
            .where(history.c.at >= moment, IS_DECISION)
        )  # fmt: skip
        if shown_on is not None:
            surface, server = shown_on
            shown = select(cards.c.case_key).where(cards.c.surface == surface, cards.c.server == server)
            received = received.where(history.c.case_key.in_(shown))
            decided = decided.where(history.c.case_key.in_(shown))
        async with self._database.read() as connection:
            new = (await connection.execute(received)).scalar_one()
            rows = (await connection.execute(decided)).mappings().all()
        # Sorted here: with ORDER BY, SQLite would scan the whole history instead of the index of decisions.
        in_order = sorted(rows, key=itemgetter("id"))
        return Period(moment, new, tuple(_standing_decisions(in_order)))


def _standing_decisions(rows: Any) -> Iterator[CountedDecision]:
    """Yield the decisions that were not undone within `rows`, which are in order of time."""
    last: dict[str, CountedDecision] = {}
    for row in rows:
        key = row["case_key"]
        if row["from_state"] == CaseState.PENDING and row["to_state"] in DECIDED:
            last[key] = _decided(row)
        elif row["from_state"] in DECIDED and row["to_state"] == CaseState.PENDING:
            last.pop(key, None)
    yield from last.values()


def _decided(row: Any) -> CountedDecision:
    return CountedDecision(
        key=row["case_key"],
        platform=row["platform"],
        groups=groups_of(row["groups"]),
        intent=_intent(row["request"]),
        state=CaseState(row["to_state"]),
        edited=row["to_state"] == CaseState.APPROVED and _is_edit(row),
        who=row["who"],
        why=row["why"],
        received_at=row["received_at"],
        decided_at=row["at"],
    )


def _is_edit(row: Any) -> bool:
    # Earlier releases recorded all approvals as the same kind and edits only in the reason, which erasure removes.
    return row["kind"] == Action.EDIT or str(row["why"]).startswith("edited")


@lru_cache(maxsize=1024)
def _intent(request: str) -> Intent:
    """Return the intent of a stored request. Cached: most are alike, and parsing dominates a year's statistics."""
    return DraftRequest.model_validate_json(request).intent
