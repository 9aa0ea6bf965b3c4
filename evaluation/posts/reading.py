"""Read posts from a user's file, JSON Lines or CSV."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.domain import Record
from core.errors import BadInput, describe_errors
from core.spreadsheets import TextLines, read_rows
from evaluation.records import EvaluationPost

CSV_FIELDS = ("id", "text", "language", "groups", "intent")


class RejectedLine(Record):
    """A line that is not a valid post: its number, counted from 1, what is wrong with it, and its content."""

    line: int
    reason: str
    content: str


@dataclass
class PostFile:
    """The posts of a file, its rejected lines, and the number of lines that were not UTF-8."""

    posts: list[EvaluationPost] = field(default_factory=list)
    rejected: list[RejectedLine] = field(default_factory=list)
    reencoded: int = 0


def read_posts(path: Path) -> PostFile:
    """Return the posts of a `.jsonl` or `.csv` file.

    Lines that are not valid posts are kept as rejected; a post without an id gets its line's number. Raises BadInput
    for another kind of file, a CSV without a column `text`, and a file without any valid post.
    """
    kinds = {".jsonl": _json_rows, ".csv": _csv_rows}
    if path.suffix.lower() not in kinds:
        raise BadInput(f"{path} is neither .jsonl nor .csv; write one JSON object a line, or CSV with a column `text`.")
    file = PostFile()
    known: set[str] = set()
    with path.open("rb") as raw:
        lines = TextLines(raw)
        for number, row in kinds[path.suffix.lower()](lines, path):
            _take(number, row, file, known)
    file.reencoded = lines.reencoded
    if not file.posts:
        raise BadInput(f"{path} has no post that can be used ({len(file.rejected)} lines rejected).")
    return file


def _take(number: int, row: dict[str, Any] | str, file: PostFile, known: set[str]) -> None:
    """Add a row to the posts or to the rejected lines; a row that could not be parsed comes as a string."""
    content = row if isinstance(row, str) else json.dumps(row, ensure_ascii=False, default=str)
    try:
        if isinstance(row, str):
            raise BadInput("is no JSON object")
        post = EvaluationPost.model_validate({"id": str(number), **row})
        if post.id in known:
            raise BadInput(f"the id {post.id!r} was given before")
        if not post.text.strip():
            raise BadInput("the text is empty")
    except ValidationError as error:
        file.rejected.append(RejectedLine(line=number, reason=describe_errors(error, "the line"), content=content))
    except BadInput as error:
        file.rejected.append(RejectedLine(line=number, reason=str(error), content=content))
    else:
        known.add(post.id)
        file.posts.append(post)


def _json_rows(lines: Iterable[str], path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = line
        yield number, row if isinstance(row, dict) else line


def _csv_rows(lines: Iterable[str], path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    for number, row in read_rows(lines, path, ("text",)):
        yield number, _post_fields(row)


def _post_fields(row: dict[str, str]) -> dict[str, Any]:
    """Return a CSV row as a post's fields: `groups` split at spaces, and a reference from each column `reference…`."""
    fields: dict[str, Any] = {name: row[name] for name in CSV_FIELDS if row.get(name)}
    fields.setdefault("text", "")
    fields["groups"] = fields.get("groups", "").split()
    fields["references"] = [text for name, text in row.items() if name.startswith("reference") and text]
    return fields
