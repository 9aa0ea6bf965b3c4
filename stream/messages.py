"""The records sent between stages, and their encoding."""

from __future__ import annotations

import base64
import json
import re
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, FailFast, Field, ValidationError

from core.domain import Case, DraftNumber, DraftRequest, FlaggedPost, Grounding, Moment, Record, Text, Triage, clean
from core.errors import BadInput, BadMessage, describe_errors
from core.lifecycle import StageName

R = TypeVar("R", bound=BaseModel)

MAX_MESSAGE = 1_000_000
"""Largest message sent or accepted, in bytes: Kafka's default (`max.message.bytes`) less room for key and headers."""

_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def _check_base64(value: str) -> str:
    base64.b64decode(value, validate=True)
    return value


Base64 = Annotated[str, AfterValidator(_check_base64)]


class Triaged(Record):
    """A post with its triage, sent to the stage `ground`.

    `number` is that of the draft that waits for it; None if that may be any, as in messages of earlier releases.
    """

    post: FlaggedPost
    triage: Triage
    number: DraftNumber | None = None


class Grounded(Record):
    """A post with its triage, its evidence, and the requested draft."""

    post: FlaggedPost
    triage: Triage
    grounding: Grounding
    request: DraftRequest

    @classmethod
    def of(cls, case: Case, request: DraftRequest) -> Self | None:
        """Return the message that requests a draft, or None if the case has no triage or no evidence."""
        if case.triage is None or case.grounding is None:
            return None
        return cls(post=case.post, triage=case.triage, grounding=case.grounding, request=request)


class DeadLetter(Record):
    """A message that could not be processed: its origin, its bytes (base64), its headers and the error.

    `value` is None if the bytes are too many to fit into another message; they are still on the original topic.
    """

    stage: StageName
    error: Text
    topic: Text
    partition: Annotated[int, Field(ge=0, lt=2**31)]
    offset: Annotated[int, Field(ge=0, lt=2**63)]
    key: Text | None = None
    value: Base64 | None = None
    headers: Annotated[tuple[tuple[Text, Base64], ...], FailFast()] = ()
    at: Moment


def encode(record: BaseModel) -> bytes:
    """Return a record as UTF-8 JSON."""
    return record.model_dump_json(exclude_none=True).encode()


def decode(data: bytes | None, kind: type[R]) -> R:
    """Return the record in `data`. Raises BadMessage with the reason, which never quotes the text."""
    if not data:
        raise BadMessage(f"The message is empty; it should be a {kind.__name__} as JSON.")
    if len(data) > MAX_MESSAGE:
        raise BadMessage(
            f"The message has {len(data):,} bytes; {MAX_MESSAGE:,} are the most a {kind.__name__} may have."
        )
    value = _json(data)
    try:
        return validated(value, kind)
    except BadInput as error:
        raise BadMessage(f"Not a {kind.__name__}: {error}.") from error


class _OfDraft(Record):
    number: DraftNumber


class _ForDraft(Record):
    request: _OfDraft


def request_number(value: bytes | None, stage: StageName) -> int | None:
    """Return the number of the draft that a stage's message is about; None if it names none or can't be read.

    It is found in messages of any size, and whatever is wrong with the rest of them.
    """
    try:
        if stage is StageName.DRAFT:
            return _ForDraft.model_validate_json(value or b"").request.number
        named = stage in (StageName.GROUND, StageName.DESK)
        return _OfDraft.model_validate_json(value or b"").number if named else None
    except ValidationError:
        return None


def validated(value: Any, kind: type[R]) -> R:
    """Return parsed JSON as a record. Raises BadInput for anything invalid, without quoting the text."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise BadInput(describe_errors(error)) from error
    except Exception as error:
        # An unexpected error in a validator must not end the process that reads the topic.
        raise BadInput(f"it can't be read ({type(error).__name__})") from error


def _json(data: bytes) -> Any:
    try:
        value = json.loads(data.decode())
        return _without_surrogates(value) if _ESCAPED_SURROGATE.search(data) else value
    except UnicodeDecodeError as error:
        raise BadMessage(f"The message is not UTF-8 (byte {error.start}).") from error
    except json.JSONDecodeError as error:
        raise BadMessage(f"The message is not JSON: {error.msg} at character {error.pos}.") from error
    except (RecursionError, ValueError) as error:
        raise BadMessage(
            "The message is not usable JSON: it is nested too deeply, or has a number too long."
        ) from error


def _without_surrogates(value: Any) -> Any:
    """Clean every text in parsed JSON: lone surrogates can be neither stored nor sent."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {clean(name): _without_surrogates(item) for name, item in value.items()}
    return value
