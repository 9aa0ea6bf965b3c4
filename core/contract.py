"""The platform contract: the records on `replies` and `outcomes`; their JSON schemas are `docs/*.schema.json`."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, PlainSerializer, TypeAdapter, WithJsonSchema

from core.domain import CaseState, Moment, Record

IDEMPOTENCY_KEY = "idempotency-key"
"""The message header by which readers recognise a duplicate of a reply or an outcome. A reader stores the key together
with the effect of the message, and skips messages whose key it already has. Without `kafka.transactions`, duplicate
replies are rare but possible; with transactions, only readers that are not set to `read_committed` see them. Outcomes
can always arrive twice, and so can messages that Kafka redelivers to a reader."""

OffsetMoment = Annotated[
    Moment,
    PlainSerializer(datetime.isoformat, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""A moment serialised with its UTC offset, `+00:00`, as every release has written it."""


class ReleasedReply(Record):
    """One approved text, as the platform gets it: one a case, exactly as a moderator approved it.

    `schema_version` rises when a field is taken away or changes its meaning; a new field leaves it as it is, so readers
    pass over what they do not know. `draft_number` is the draft it came from; `edited`: it differs from that draft.
    """

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    schema_version: Literal[1] = 1
    case_key: str
    platform: str
    post_id: str
    text: str
    approved_by: str
    approved_at: OffsetMoment
    draft_number: int | None
    edited: bool


class Outcome(Record):
    """The end of a case: one each time it ends; of a case that was reopened the newest counts.

    `event` tells the records on `outcomes` from each other; readers pass over those they don't know. `text` is the
    reply that was released.
    """

    event: Literal["outcome"] = "outcome"
    case_key: str
    state: CaseState
    at: Moment
    who: str
    why: str
    text: str | None = None


class Retraction(Record):
    """The wish that a released reply be taken back, at most one a case; the case stays `released`."""

    event: Literal["retraction"] = "retraction"
    case_key: str
    platform: str
    post_id: str
    at: Moment
    who: str
    why: str
    text: str


class Appeal(Record):
    """The news that somebody has appealed against how a case ended; what they said stays with the desk."""

    event: Literal["appeal"] = "appeal"
    case_key: str
    platform: str
    post_id: str
    at: Moment
    who: str


OutcomeEvent = Annotated[Outcome | Retraction | Appeal, Field(discriminator="event")]
"""One record on `outcomes`."""


def replies_schema() -> str:
    """Return the JSON schema of what is written to `replies`, as kept in `docs/`."""
    return json.dumps(ReleasedReply.model_json_schema(mode="serialization"), indent=2) + "\n"


def outcomes_schema() -> str:
    """Return the JSON schema of what is written to `outcomes`, as kept in `docs/`."""
    schema = TypeAdapter[OutcomeEvent](OutcomeEvent).json_schema(mode="serialization")
    return json.dumps(schema, indent=2) + "\n"
