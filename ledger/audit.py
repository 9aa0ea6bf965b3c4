"""Verification of the cases' histories: no row was changed, removed or inserted, and no text replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, bindparam, select

from core.domain import CaseState, clean
from core.errors import CaseNotFound
from ledger.chain import chain_key, row_digest, salted_digest
from ledger.connection import Connection
from ledger.database import Database
from ledger.privacy import Pseudonyms
from ledger.tables import cases, drafts, history, tombstones
from ledger.uninterrupted import uninterrupted

PAGE = 500

_KEYS = select(cases.c.key).where(cases.c.key > bindparam("after")).order_by(cases.c.key).limit(PAGE)
_CASES = (
    select(cases.c.key, cases.c.version, cases.c.state, cases.c.post, cases.c.final_text, cases.c.erased_at)
    .where(cases.c.key.in_(bindparam("keys", expanding=True)))
    .order_by(cases.c.key)
)
_ROWS = (
    select(history)
    .where(history.c.case_key.in_(bindparam("keys", expanding=True)))
    .order_by(history.c.case_key, history.c.version)
)
_DRAFTS = select(drafts.c.case_key, drafts.c.draft).where(drafts.c.case_key.in_(bindparam("keys", expanding=True)))
_TOMBSTONES = select(tombstones).where(tombstones.c.id > bindparam("after")).order_by(tombstones.c.id).limit(PAGE)


@dataclass
class AuditReport:
    """What was verified, and the first fault, if any.

    `unchained` counts transitions from before the chain was introduced; the number never rises.
    """

    cases: int = 0
    transitions: int = 0
    unchained: int = 0
    erased: int = 0
    pruned: int = 0
    broken: str | None = None


class Audit:
    """The verification of histories."""

    def __init__(self, database: Database, pseudonyms: Pseudonyms) -> None:
        self._database = database
        self._pseudonyms = pseudonyms

    @uninterrupted
    async def verify(self, key: str | None = None) -> AuditReport:
        """Verify one case, or all cases and tombstones, up to the first fault. Raises CaseNotFound."""
        report = AuditReport()
        if key is None:
            await self._verify_all(report)
        else:
            async with self._database.read() as connection:
                await _verify_cases(connection, [clean(key)], report)
                if not report.cases:
                    await self._verify_tombstone_of(connection, clean(key), report)
        return report

    async def _verify_all(self, report: AuditReport) -> None:
        after: str = ""
        while report.broken is None:
            async with self._database.read() as connection:
                keys = (await connection.execute(_KEYS, {"after": after})).scalars().all()
                if not keys:
                    break
                await _verify_cases(connection, keys, report)
            after = keys[-1]
        last = 0
        while report.broken is None:
            async with self._database.read() as connection:
                rows = (await connection.execute(_TOMBSTONES, {"after": last})).mappings().all()
                if not rows:
                    break
                _verify_tombstones(chain_key(connection), rows, report)
            last = rows[-1]["id"]

    async def _verify_tombstone_of(self, connection: Connection, key: str, report: AuditReport) -> None:
        query = select(tombstones).where(tombstones.c.key_hash == self._pseudonyms.case(key))
        rows = (await connection.execute(query)).mappings().all()
        if not rows:
            raise CaseNotFound(f"there is no case {key}, and no tombstone of one; look its key up in the queue")
        _verify_tombstones(chain_key(connection), rows, report)


async def _verify_cases(connection: Connection, keys: Sequence[str], report: AuditReport) -> None:
    rows = _by_case((await connection.execute(_ROWS, {"keys": keys})).mappings())
    texts = _by_case((await connection.execute(_DRAFTS, {"keys": keys})).mappings())
    for case in (await connection.execute(_CASES, {"keys": keys})).mappings().all():
        transitions = rows.get(case["key"], [])
        report.cases += 1
        report.transitions += len(transitions)
        report.unchained += sum(row["digest"] is None for row in transitions)
        report.erased += case["erased_at"] is not None
        fault = _fault(chain_key(connection), case, transitions, [row["draft"] for row in texts.get(case["key"], [])])
        if fault is not None:
            report.broken = f"case {case['key']}, {fault}"
            return


def _by_case(rows: Any) -> dict[str, list[RowMapping]]:
    grouped: dict[str, list[RowMapping]] = {}
    for row in rows:
        grouped.setdefault(row["case_key"], []).append(row)
    return grouped


def _verify_tombstones(key: bytes, rows: Sequence[RowMapping], report: AuditReport) -> None:
    for row in rows:
        report.pruned += 1
        if row_digest(key, dict(row), None) != row["digest"]:
            report.broken = f"tombstone {row['id']}: it was changed, or made with another key"
            return


def _fault(key: bytes, case: RowMapping, rows: Sequence[RowMapping], its_drafts: Sequence[str]) -> str | None:
    """Return a description of the first fault in a case's history, or None."""
    for version, row in enumerate(rows, start=1):
        before = rows[version - 2] if version > 1 else None
        if (fault := _row_fault(key, case, row, before, version)) is not None:
            return f"version {version}: {fault}"
    last = rows[-1] if rows else None
    if last is None or (last["version"], last["to_state"]) != (case["version"], case["state"]):
        return f"version {case['version']}: the case is {case['state']}, and its history does not say so"
    if case["erased_at"] is not None:
        return None
    for row in rows:
        if row["text_digest"] is not None and (fault := _text_fault(row, case, rows, its_drafts)) is not None:
            return f"version {row['version']}: {fault}"
    return None


def _row_fault(key: bytes, case: RowMapping, row: RowMapping, before: RowMapping | None, version: int) -> str | None:
    if row["version"] != version:
        return "its row is missing"
    if before is not None and row["from_state"] != before["to_state"]:
        return f"it comes from {row['from_state']}, and the row before leads to {before['to_state']}"
    previous = before["digest"] if before is not None else None
    if row["digest"] is None:
        return "it has no digest, and the row before has one" if previous is not None else None
    if row_digest(key, dict(row), previous) != row["digest"]:
        return "it was changed, or made with another key, or the row before was"
    if row["salt"] is None:
        erased = case["erased_at"] is not None and not row["why"]
        return None if erased else "its words are gone, and the case was not erased"
    return None if salted_digest(row["salt"], row["why"]) == row["why_digest"] else "its reason was changed"


def _text_fault(row: RowMapping, case: RowMapping, rows: Sequence[RowMapping], its_drafts: Sequence[str]) -> str | None:
    """Compare a transition's text with the text on file, if there still is one."""
    match CaseState(row["to_state"]):
        case CaseState.RECEIVED:
            on_file, what = [case["post"]], "post"
        case CaseState.PENDING:
            on_file, what = list(its_drafts), "draft"
        case _:
            # The text of an undone approval is gone.
            approvals = [each["version"] for each in rows if each["to_state"] == row["to_state"]]
            if case["final_text"] is None or row["version"] != approvals[-1]:
                return None
            on_file, what = [case["final_text"]], "approved text"
    if any(salted_digest(row["salt"], text) == row["text_digest"] for text in on_file):
        return None
    return f"the {what} on file is not the one that came with it"
