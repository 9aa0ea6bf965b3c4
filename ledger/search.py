"""Search for words in cases: in post, drafts and approved text, in the case key and the names of the groups."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, String, Text, or_, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from core.domain import TargetGroup, clean
from ledger.tables import GROUP_BITS, cases, drafts

MOST_WORDS = 8
_NUL = r"\u0000"
"""A NUL in JSON: SQLite ends a text there, and PostgreSQL refuses it. Records with one are searched as raw JSON."""


def has_words(search: str) -> list[ColumnElement[bool]]:
    """Return conditions that together match cases with every word of `search`, ignoring letter case.

    Only the first MOST_WORDS words count. Reads every row that matches the other conditions.
    """
    return [_has(word) for word in clean(search).lower().split()[:MOST_WORDS]]


def _has(word: str) -> ColumnElement[bool]:
    pattern = "%" + word.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_") + "%"
    drafted = select(drafts.c.number).where(drafts.c.case_key == cases.c.key, _like(_TextIn(drafts.c.draft), pattern))
    groups = sum(GROUP_BITS[group] for group in TargetGroup if word in group.label.lower())
    places = [
        _like(_Folded(cases.c.key), pattern),
        _like(_TextIn(cases.c.post), pattern),
        _like(_Folded(cases.c.final_text), pattern),
        drafted.exists(),
    ]
    return or_(*places, *([cases.c.groups.bitwise_and(groups) != 0] if groups else []))


def _like(text: ColumnElement[str], pattern: str) -> ColumnElement[bool]:
    return text.like(pattern, escape="\\")


class _Folded(FunctionElement[str]):
    """A text in lower case."""

    type = String()
    inherit_cache = True


class _TextIn(FunctionElement[str]):
    """The `text` of a record stored as JSON, in lower case."""

    type = Text()
    inherit_cache = True


@compiles(_Folded, "sqlite")
def _folded_sqlite(element: _Folded, compiler: SQLCompiler, **options: Any) -> str:
    return f"small({compiler.process(element.clauses, **options)})"


@compiles(_Folded, "postgresql")
def _folded_postgres(element: _Folded, compiler: SQLCompiler, **options: Any) -> str:
    return f"lower({compiler.process(element.clauses, **options)})"


@compiles(_TextIn, "sqlite")
def _text_in_sqlite(element: _TextIn, compiler: SQLCompiler, **options: Any) -> str:
    record = compiler.process(element.clauses, **options)
    return f"small(CASE WHEN instr({record}, '{_NUL}') > 0 THEN {record} ELSE json_extract({record}, '$.text') END)"


@compiles(_TextIn, "postgresql")
def _text_in_postgres(element: _TextIn, compiler: SQLCompiler, **options: Any) -> str:
    record = compiler.process(element.clauses, **options)
    return f"lower(CASE WHEN strpos({record}, '{_NUL}') > 0 THEN {record} ELSE {record}::json ->> 'text' END)"
