"""Everything the ledger holds about cases, for data subject requests; and records of who uncovered which post."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select

from core.domain import clean
from core.errors import CaseNotFound
from ledger.database import Database
from ledger.personal_data import tables_of_a_case
from ledger.tables import cases, groups_of, uncoverings
from ledger.uninterrupted import uninterrupted

RECORDS = frozenset({"post", "triage", "grounding", "request", "draft", "value", "headers", "probe"})
"""Columns that hold JSON, which is returned parsed."""


class Holdings:
    """All data about a case, across all tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def of(self, keys: Sequence[str]) -> list[dict[str, Any]]:
        """Return for each case its row, and under each other table's name its rows there. Raises CaseNotFound."""
        return [await self._of(clean(key)) for key in keys]

    @uninterrupted
    async def record_uncovering(self, key: str, who: str) -> None:
        """Record that somebody uncovered a post; each call adds a record."""
        row = {"case_key": clean(key), "who": clean(who), "at": self._database.clock()}
        async with self._database.write(durable=False) as connection:
            await connection.execute(insert(uncoverings), row)

    async def _of(self, key: str) -> dict[str, Any]:
        async with self._database.read() as connection:
            row = (await connection.execute(select(cases).where(cases.c.key == key))).mappings().one_or_none()
            if row is None:
                raise CaseNotFound(f"there is no case {key}; look its key up in the queue")
            groups = [str(group) for group in groups_of(row["groups"])]
            held: dict[str, Any] = {"case": {**_readable(row), "groups": groups}}
            for table in reversed(tables_of_a_case()):
                query = select(table).where(table.c.case_key == key).order_by(*table.primary_key)
                held[table.name] = [_readable(row) for row in (await connection.execute(query)).mappings()]
        return held


def _readable(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): _value(str(name), value) for name, value in row.items()}


def _value(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return json.loads(value) if name in RECORDS and value else value
