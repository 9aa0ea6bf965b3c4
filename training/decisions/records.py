"""The records in the files that `rejoinder train pairs` writes, with their writer and reader."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from core.domain import Intent, Record, TargetGroup
from core.errors import BadInput, describe_errors

EXAMPLES, PREFERENCES, VERDICTS = "sft.jsonl", "preferences.jsonl", "verdicts.jsonl"


class Outcome(StrEnum):
    """What became of a draft: a moderator's decision on it."""

    APPROVED = "approved"
    EDITED = "edited"
    REJECTED = "rejected"
    SENT_BACK = "sent_back"


class Example(Record):
    """A reply that moderators sent to a post, to be imitated; `raters` are keyed hashes of these moderators."""

    post: str
    language: str
    groups: tuple[TargetGroup, ...]
    intent: Intent
    reply: str
    outcome: Outcome
    raters: tuple[str, ...]


class Preference(Record):
    """Two replies to a post with the same intent, of which moderators preferred `chosen`.

    `outcome` is what became of the rejected reply, and `reason` the code of its rejection.
    """

    post: str
    language: str
    groups: tuple[TargetGroup, ...]
    intent: Intent
    chosen: str
    rejected: str
    outcome: Outcome
    reason: str = ""
    raters: tuple[str, ...]


class Verdict(Record):
    """A moderator's verdict on each part of a draft made from sentences on file; None if it says nothing about a part.

    `counter` is the counter-claim's text; `claim` and `fact` are ids. `case` and `rater` are keyed hashes.
    """

    case: str
    post: str
    language: str
    groups: tuple[TargetGroup, ...]
    intent: Intent
    claim: str
    counter: str
    fact: str
    claim_approved: bool | None
    counter_approved: bool | None
    fact_approved: bool | None
    outcome: Outcome
    reason: str = ""
    rater: str


Line = TypeVar("Line", bound=Record)


def write_lines(path: Path, lines: Iterable[Record]) -> None:
    """Write records as JSON Lines."""
    path.write_text("".join(f"{line.model_dump_json()}\n" for line in lines), encoding="utf-8")


def read_lines(path: Path, kind: type[Line]) -> list[Line]:
    """Return the records of a file; raises BadInput that names the first line that can't be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} can't be read: {error}. Write it with `rejoinder train pairs`.") from error
    records = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            records.append(kind.model_validate_json(line))
        except ValidationError as error:
            raise BadInput(f"{path}:{number}: {describe_errors(error)}. Write it anew with `train pairs`.") from error
    return records
