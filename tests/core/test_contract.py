"""What platforms build on stays what the documents say."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import TypeAdapter

from core.contract import Appeal, Outcome, OutcomeEvent, ReleasedReply, Retraction, outcomes_schema, replies_schema
from core.domain import CaseState, now

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = DOCS / "replies.schema.json"


def test_the_schema_in_the_documents_is_that_of_the_record() -> None:
    assert SCHEMA.read_text() == replies_schema(), "run: make settings"
    assert (DOCS / "outcomes.schema.json").read_text() == outcomes_schema(), "run: make settings"


def test_the_records_on_outcomes_tell_themselves_apart_and_those_of_before_are_read() -> None:
    events = TypeAdapter[Outcome | Retraction | Appeal](OutcomeEvent)
    at, case = now(), {"case_key": "forum/1", "platform": "forum", "post_id": "1", "who": "ana"}
    for event in (
        Outcome(case_key="forum/1", state=CaseState.RELEASED, at=at, who="ana", why="", text="Fair. Sourced."),
        Retraction(**case, at=at, why="a wrong figure", text="Fair. Sourced."),
        Appeal(**case, at=at),
    ):
        assert events.validate_json(event.model_dump_json()) == event
    old = {"case_key": "forum/1", "state": "rejected", "at": at.isoformat(), "who": "ana", "why": "tone"}
    assert Outcome.model_validate(old).event == "outcome"


def test_a_reply_has_what_the_schema_requires_and_the_old_form_of_its_moment() -> None:
    reply = ReleasedReply(
        case_key="forum/1", platform="forum", post_id="1", text="Fair. Sourced.", approved_by="ana", approved_at=now(),
        draft_number=None, edited=True,
    )  # fmt: skip
    written = json.loads(reply.model_dump_json())
    assert set(json.loads(SCHEMA.read_text())["required"]) == set(written)
    assert written["approved_at"].endswith("+00:00")
    assert ReleasedReply.model_validate(written) == reply


def test_a_reply_from_before_the_version_was_named_is_read() -> None:
    old = {
        "case_key": "forum/1", "platform": "forum", "post_id": "1", "text": "Fair. Sourced.", "approved_by": "ana",
        "approved_at": "2026-11-01T12:00:00+00:00", "draft_number": 1, "edited": False,
    }  # fmt: skip
    assert ReleasedReply.model_validate(old).schema_version == 1
