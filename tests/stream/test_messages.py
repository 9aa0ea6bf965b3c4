"""The codec: what goes in comes out; what is not a record is a clear error that never quotes the text."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, ValidationError

from core.domain import MAX_FLAG_BYTES, MAX_TEXT, STORED, DraftRequest, FlaggedPost, Triage
from core.errors import BadInput, BadMessage
from stream.messages import MAX_MESSAGE, DeadLetter, Grounded, Triaged, decode, encode, validated
from tests.factories import make_grounding, make_post, make_triage

POST = make_post(platform="birdsong")


def test_a_record_survives_the_wire() -> None:
    assert decode(encode(POST), FlaggedPost) == POST


def test_a_triage_of_an_older_version_with_a_kind_of_attack_is_read() -> None:
    older = make_triage().model_dump(mode="json") | {"kind": "claim"}
    assert decode(json.dumps(older).encode(), Triage) == make_triage()


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
        (b'{"platform":"a","post_id":"1","text":"x","flagged_at":"0001-01-01T00:00:00+14:00"}', "flagged_at: lies out"),
        (b'{"platform":"a","post_id":"1","text":"x","flagged_at":"9999-12-31T23:59:59-12:00"}', "flagged_at: lies out"),
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


def flag_of(size: int) -> dict[str, Any]:
    """Return a flag of exactly `size` bytes as JSON, most of it context."""
    flag: dict[str, Any] = {"platform": "a", "post_id": "1", "text": "x", "context": [""] * 30}
    missing = size - len(encode(FlaggedPost.model_validate(flag, context=STORED)))
    share, rest = divmod(missing, 30)
    flag["context"] = ["y" * (share + (number < rest)) for number in range(30)]
    assert len(encode(FlaggedPost.model_validate(flag, context=STORED))) == size
    return flag


def test_a_flag_is_bounded_as_a_whole() -> None:
    assert decode(json.dumps(flag_of(MAX_FLAG_BYTES)).encode(), FlaggedPost)
    with pytest.raises(BadMessage, match="a flag may have 300,000 bytes, and this one has 300,001"):
        decode(json.dumps(flag_of(MAX_FLAG_BYTES + 1)).encode(), FlaggedPost)


@pytest.mark.parametrize("context", [["\N{CLOWN FACE}" * 20_000] * 4, ['"' * 20_000] * 8])
def test_what_counts_is_the_size_on_the_wire(context: list[str]) -> None:
    with pytest.raises(BadMessage, match="300,000"):
        decode(json.dumps({"platform": "a", "post_id": "1", "text": "x", "context": context}).encode(), FlaggedPost)


def test_the_largest_flag_fits_into_every_message_of_its_case() -> None:
    post = FlaggedPost.model_validate(flag_of(MAX_FLAG_BYTES))
    triage = make_triage(embedding="A" * 6_000)
    request = DraftRequest(avoid=post.context)
    grounded = Grounded(post=post, triage=triage, grounding=make_grounding(), request=request)
    assert decode(encode(grounded), Grounded) == grounded, "with its context in `avoid` too, as version 0.1.0 wrote it"


def test_half_a_pair_of_surrogates_is_taken_out_of_every_record() -> None:
    record = {"language": "en", "groups": [], "hate": 0.5, "route": "draft", "reason": "a\ud800b"}
    data = json.dumps({"post": POST.model_dump(mode="json"), "triage": record}).encode()
    assert decode(data, Triaged).triage.reason == "a\N{REPLACEMENT CHARACTER}b"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_number_that_json_does_not_have_is_refused(number: str) -> None:
    """Written as null, it would make the case unreadable."""
    data = encode(POST)[:-1]
    triage = f'{{"language":"en","groups":[],"route":"draft","reason":"x","hate":{number}}}'
    with pytest.raises(BadMessage, match="hate"):
        decode(b'{"post":' + data + b'},"triage":' + triage.encode() + b"}", Triaged)


def test_whatever_a_validation_raises_is_bad_input() -> None:
    def fail(value: object) -> object:
        raise ZeroDivisionError(value)

    class Odd(BaseModel):
        text: Annotated[str, AfterValidator(fail)]

    with pytest.raises(BadInput, match="ZeroDivisionError") as caught:
        validated({"text": "vile words"}, Odd)
    assert "vile" not in str(caught.value)
    with pytest.raises(BadMessage, match="ZeroDivisionError"):
        decode(b'{"text":"vile words"}', Odd)


@pytest.mark.parametrize("change", [
    {"at": "0001-01-01T00:00:00+14:00"}, {"value": "no base64!"}, {"headers": [["trace", "é"]]}, {"offset": 2**63},
    {"partition": -1}, {"stage": "nonsense"},
])  # fmt: skip
def test_a_letter_that_could_not_be_replayed_is_refused(change: dict[str, Any]) -> None:
    letter = {
        "stage": "triage",
        "error": "x",
        "topic": "flags",
        "partition": 0,
        "offset": 1,
        "at": "2026-11-21T12:00:00Z",
    }
    assert decode(json.dumps(letter).encode(), DeadLetter)
    with pytest.raises(BadMessage, match=next(iter(change))):
        decode(json.dumps(letter | change).encode(), DeadLetter)


@pytest.mark.parametrize(
    ("kind", "field", "item"), [(FlaggedPost, "context", 1), (DeadLetter, "headers", []), (DeadLetter, "headers", 1)]
)
def test_a_list_is_given_up_at_its_first_wrong_item(kind: type[BaseModel], field: str, item: object) -> None:
    """A megabyte of them would otherwise become a gigabyte of errors."""
    with pytest.raises(ValidationError) as caught:
        kind.model_validate({field: [item] * 1000})
    errors = [error["loc"] for error in caught.value.errors() if error["loc"][0] == field]
    assert {place[:2] for place in errors} == {(field, 0)} and len(errors) <= 2


def test_errors_do_not_quote_what_was_sent() -> None:
    with pytest.raises(BadMessage) as caught:
        decode(b'{"platform":"a b","post_id":"1","text":"vile words"}', FlaggedPost)
    assert "vile" not in str(caught.value)
    assert "a b" not in str(caught.value)


def test_control_characters_and_lone_surrogates_are_taken_out() -> None:
    data = b'{"platform":"a","post_id":"1","text":"one\\u0000 two\\u001b[31m \\ud800 three"}'
    assert decode(data, FlaggedPost).text == "one two[31m \N{REPLACEMENT CHARACTER} three"


def test_the_other_set_of_control_characters_is_taken_out_too_but_for_its_line_break() -> None:
    """A terminal obeys U+009B as it does ESC and a bracket."""
    others = "".join(map(chr, range(0x80, 0xA0)))
    post = FlaggedPost(platform="a", post_id="\x9b2J1", text=f"one{others}two\x9b31m")
    assert (post.key, post.text) == ("a/2J1", "one\x85two31m")


def test_unknown_fields_are_ignored_so_that_platforms_can_send_more() -> None:
    assert decode(b'{"platform":"a","post_id":"1","text":"x","colour":"red"}', FlaggedPost).text == "x"


def test_a_record_of_another_topic_is_refused() -> None:
    with pytest.raises(BadMessage, match="Triaged"):
        decode(encode(POST), Triaged)
