"""The codec: what goes in comes out; what is not a record is a clear error that never quotes the text."""

from __future__ import annotations

import json

import pytest

from core.domain import MAX_TEXT, FlaggedPost
from core.errors import BadMessage
from stream.messages import MAX_MESSAGE, Triaged, decode, encode
from tests.factories import make_post

POST = make_post(platform="birdsong")


def test_a_record_survives_the_wire() -> None:
    assert decode(encode(POST), FlaggedPost) == POST


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (None, "empty"),
        (b"", "empty"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"9" * 5_000, "number too long"),
        (b"[]", "FlaggedPost"),
        (b'"text"', "FlaggedPost"),
        (b"{}", "platform: is missing"),
        (b'{"platform":"a","post_id":"1"}', "text: is missing"),
        (b'{"platform":"a","post_id":"1","text":"  "}', "text: is empty"),
        (b'{"platform":"a","post_id":"1","text":"\\u0000\\u0007"}', "text: is empty"),
        (b'{"platform":"a/b","post_id":"1","text":"x"}', "platform"),
        (b'{"platform":"a","post_id":"1 2","text":"x"}', "post_id"),
        (b'{"platform":"a","post_id":"..","text":"x"}', "path segment"),
        (b'{"platform":"a","post_id":"1","text":5}', "text"),
        (b'{"platform":"a","post_id":"1","text":"x","language":"klingon!"}', "language"),
        (b'{"platform":"a","post_id":"1","text":"x","flagged_at":"yesterday"}', "flagged_at"),
    ],
)
def test_what_is_not_a_post_is_a_clear_error(data: bytes | None, complaint: str) -> None:
    with pytest.raises(BadMessage, match=complaint):
        decode(data, FlaggedPost)


def test_a_message_over_the_limit_is_refused_without_being_parsed() -> None:
    with pytest.raises(BadMessage, match="10,000,0"):
        decode(b'{"text":"' + b"x" * 10_000_000 + b'"}', FlaggedPost)
    assert MAX_MESSAGE < 10_000_000


def test_text_over_the_limit_is_refused() -> None:
    data = json.dumps({"platform": "a", "post_id": "1", "text": "x" * (MAX_TEXT + 1)}).encode()
    with pytest.raises(BadMessage, match="text"):
        decode(data, FlaggedPost)


def test_errors_do_not_quote_what_was_sent() -> None:
    with pytest.raises(BadMessage) as caught:
        decode(b'{"platform":"a b","post_id":"1","text":"vile words"}', FlaggedPost)
    assert "vile" not in str(caught.value)
    assert "a b" not in str(caught.value)


def test_control_characters_and_lone_surrogates_are_taken_out() -> None:
    data = b'{"platform":"a","post_id":"1","text":"one\\u0000 two\\u001b[31m \\ud800 three"}'
    assert decode(data, FlaggedPost).text == "one two[31m \N{REPLACEMENT CHARACTER} three"


def test_unknown_fields_are_ignored_so_that_platforms_can_send_more() -> None:
    assert decode(b'{"platform":"a","post_id":"1","text":"x","colour":"red"}', FlaggedPost).text == "x"


def test_a_record_of_another_topic_is_refused() -> None:
    with pytest.raises(BadMessage, match="Triaged"):
        decode(encode(POST), Triaged)
