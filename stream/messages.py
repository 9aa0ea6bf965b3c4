"""The records that travel between stages, and their bytes."""

from __future__ import annotations

import json
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from core.domain import Case, DraftRequest, FlaggedPost, Grounding, Moment, Record, Triage
from core.errors import BadMessage, describe_errors
from core.lifecycle import StageName

R = TypeVar("R", bound=BaseModel)

MAX_MESSAGE = 1_000_000
"""Largest message taken, in bytes: Kafka's own default (`max.message.bytes`)."""


class Triaged(Record):
    """A post with its triage, on its way to `ground`."""

    post: FlaggedPost
    triage: Triage


class Grounded(Record):
    """A post with its triage, its evidence, and the draft that is asked for."""

    post: FlaggedPost
    triage: Triage
    grounding: Grounding
    request: DraftRequest

    @classmethod
    def of(cls, case: Case, request: DraftRequest) -> Self | None:
        """Return the message that asks for a draft; None for a case that was never triaged and grounded."""
        if case.triage is None or case.grounding is None:
            return None
        return cls(post=case.post, triage=case.triage, grounding=case.grounding, request=request)


class DeadLetter(Record):
    """A message nobody could work on: where it came from, its bytes (base64) and headers, and the error.

    `value` is None when the bytes are too many for one more message; they are still where they came from.
    """

    stage: StageName
    error: str
    topic: str
    partition: int
    offset: int
    key: str | None = None
    value: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    at: Moment


def encode(record: BaseModel) -> bytes:
    """Return a record as UTF-8 JSON."""
    return record.model_dump_json(exclude_none=True).encode()


def decode(data: bytes | None, kind: type[R]) -> R:
    """Return the record in `data`; raises BadMessage that says what is wrong with it, never quoting the text."""
    if not data:
        raise BadMessage(f"The message is empty; it should be a {kind.__name__} as JSON.")
    if len(data) > MAX_MESSAGE:
        raise BadMessage(
            f"The message has {len(data):,} bytes; {MAX_MESSAGE:,} are the most a {kind.__name__} may have."
        )
    try:
        return kind.model_validate(_json(data))
    except ValidationError as error:
        raise BadMessage(f"Not a {kind.__name__}: {describe_errors(error)}.") from error


def _json(data: bytes) -> Any:
    try:
        return json.loads(data.decode())
    except UnicodeDecodeError as error:
        raise BadMessage(f"The message is not UTF-8 (byte {error.start}).") from error
    except json.JSONDecodeError as error:
        raise BadMessage(f"The message is not JSON: {error.msg} at character {error.pos}.") from error
    except (RecursionError, ValueError) as error:
        raise BadMessage(
            "The message is not usable JSON: it is nested too deeply, or has a number too long."
        ) from error
