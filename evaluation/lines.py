"""Read JSON Lines files record by record, append to them, and repair them after an interruption."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from core.domain import Record
from core.errors import BadInput, describe_errors

R = TypeVar("R", bound=Record)


def read_lines(path: Path, kind: type[R]) -> Iterator[R]:
    """Yield the records of a file, none if it is missing; raises BadInput that names the first bad line."""
    if not path.exists():
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield kind.model_validate_json(line)
            except ValidationError as error:
                complaint = describe_errors(error, "the line")
                raise BadInput(f"{path}, line {number}: {complaint}. Remove the line and run again.") from error


def append_lines(path: Path, records: Iterable[Record]) -> None:
    """Append records to a file and close it."""
    with path.open("ab") as file:
        for record in records:
            file.write(record.model_dump_json().encode() + b"\n")


def mend(path: Path) -> None:
    """Cut off an incomplete last line, as an interrupted run leaves it."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        end = file.seek(0, 2)
        while end:
            start = max(0, end - 65_536)
            file.seek(start)
            place = file.read(end - start).rfind(b"\n")
            if place >= 0:
                end = start + place + 1
                break
            end = start
        file.truncate(end)
