"""Load the starter evidence: statements in our own words that ship with the package, one TOML file per target group."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated

from pydantic import ConfigDict, Field, HttpUrl, TypeAdapter, ValidationError

from core.domain import Evidence, Record, Source, TargetGroup
from core.errors import KnowledgeBaseError, describe_errors

Line = Annotated[str, Field(min_length=1, pattern=r"^\S(.*\S)?$")]
_URL = TypeAdapter(HttpUrl)


class StarterStatement(Record):
    """One statement as in its TOML file.

    `document` and `terms` say where its author found the fact: a file in the folder of source texts, and phrases that
    it has at `locator`. Only tests use them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    text: Line
    answers: Annotated[tuple[Line, ...], Field(min_length=1, max_length=3)]
    groups: Annotated[tuple[TargetGroup, ...], Field(min_length=1)]
    institution: Line
    title: Line
    symbol: Line
    locator: Line
    year: Annotated[int, Field(ge=1945, le=2100)]
    url: Annotated[str, Field(pattern=r"^https://\S+$")]
    document: Line
    terms: Annotated[tuple[Line, ...], Field(min_length=1, max_length=3)]

    def evidence(self) -> Evidence:
        """Return the statement as the pipeline uses it."""
        source = Source(
            institution=self.institution,
            title=self.title,
            symbol=self.symbol,
            locator=self.locator,
            year=self.year,
            url=self.url,
        )
        return Evidence(id=self.id, text=self.text, groups=self.groups, source=source, answers=self.answers)


def load_starter() -> tuple[StarterStatement, ...]:
    """Read all shipped statements, by file name; raises KnowledgeBaseError naming file, statement and field."""
    return load_statements(entry for entry in _shipped_files())


def load_statements(entries: Iterable[Traversable]) -> tuple[StarterStatement, ...]:
    """Read the statements of these TOML files; ids must be unique across all of them."""
    statements: dict[str, tuple[str, StarterStatement]] = {}
    for entry in entries:
        for statement in _statements(entry):
            if statement.id in statements:
                raise KnowledgeBaseError(
                    f"Statement '{statement.id}' is in {statements[statement.id][0]} and again in "
                    f"{entry.name}. Give one of them another id."
                )
            statements[statement.id] = (entry.name, statement)
    return tuple(statement for _, statement in statements.values())


def fingerprint(evidence: Iterable[Evidence]) -> str:
    """Return the SHA-256 of these records, by which a knowledge base shows whether it was built from them."""
    digest = hashlib.sha256()
    for item in evidence:
        digest.update(item.model_dump_json().encode())
    return digest.hexdigest()


def _shipped_files() -> list[Traversable]:
    folder = files("kb") / "starter"
    entries = sorted((e for e in folder.iterdir() if e.name.endswith(".toml")), key=lambda e: e.name)
    if not entries:
        raise KnowledgeBaseError(f"No starter evidence in {folder}. Install the package again: its data is missing.")
    return entries


def _statements(entry: Traversable) -> Iterator[StarterStatement]:
    try:
        rows = tomllib.loads(entry.read_text(encoding="utf-8")).get("statement")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KnowledgeBaseError(f"{entry.name} is not readable TOML: {error}. Correct that place.") from error
    if not isinstance(rows, list) or not rows:
        raise KnowledgeBaseError(f"{entry.name} holds no [[statement]] table. Add one, or remove the file.")
    for number, row in enumerate(rows, start=1):
        yield _statement(entry.name, number, row)


def _statement(file: str, number: int, row: object) -> StarterStatement:
    try:
        statement = StarterStatement.model_validate(row)
        _URL.validate_python(statement.url)
    except ValidationError as error:
        name = row.get("id", f"number {number}") if isinstance(row, dict) else f"number {number}"
        complaints = describe_errors(error, "url")
        raise KnowledgeBaseError(f"{file}: statement '{name}', {complaints}. Correct it.") from error
    return statement
