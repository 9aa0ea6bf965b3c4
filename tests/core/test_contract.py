"""What platforms build on stays what the documents say."""

from __future__ import annotations

import json
from pathlib import Path

from core.contract import ReleasedReply, replies_schema
from core.domain import now

SCHEMA = Path(__file__).parents[2] / "docs" / "replies.schema.json"


def test_the_schema_in_the_documents_is_that_of_the_record() -> None:
    assert SCHEMA.read_text() == replies_schema(), "run: make settings"


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
