"""Valid records of every kind, and a strategy that corrupts them as anybody with write access to a topic could."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st
from pydantic import BaseModel

from core.domain import MAX_TEXT, Draft, FlaggedPost
from stream.messages import DeadLetter, Grounded, Triaged

SECRET = "vile words"
"""A text in every text field of a valid record; it must never appear in an error."""

_POST: dict[str, Any] = {
    "platform": "birdsong", "post_id": "1", "text": f"Zorblaxians: {SECRET}.", "language": "en", "author_id": "zed",
    "url": "https://birdsong.example/1", "flagged_at": "2026-11-21T12:00:00+01:00", "reason": SECRET,
    "context": [SECRET, "An earlier reply."],
}  # fmt: skip
_TRIAGE: dict[str, Any] = {
    "language": "en", "groups": [{"group": "other", "score": 0.9}], "hate": 0.9, "route": "draft", "reason": SECRET,
    "embedding": "AAAA",
}  # fmt: skip
_SOURCE = {"institution": "UN", "title": "UDHR", "symbol": "A", "locator": "1", "year": 1948, "url": "https://un.org/"}
_EVIDENCE = {
    "id": "e1", "text": SECRET, "summary": "", "groups": ["other"], "source": _SOURCE, "answers": [SECRET], "score": 1.0
}  # fmt: skip
_CHECK = {"name": "echo", "passed": True, "value": 0.1, "threshold": 0.5, "hard": True, "detail": SECRET}
_CANDIDATE = {"text": SECRET, "origin": "model", "checks": [_CHECK], "reward": 0.5, "strategy": "free", "model": "m"}
VALID: dict[type[BaseModel], dict[str, Any]] = {
    FlaggedPost: _POST,
    Triaged: {"post": _POST, "triage": _TRIAGE},
    Grounded: {
        "post": _POST,
        "triage": _TRIAGE,
        "grounding": {"evidence": [_EVIDENCE], "note": SECRET, "plan": {"strategy": "free", "claims": [SECRET]}},
        "request": {"number": 1, "intent": "positive", "hint": SECRET, "avoid": [SECRET]},
    },
    Draft: {
        "case_key": "birdsong/1", "number": 1, "text": SECRET, "intent": "positive", "origin": "model", "model": "m",
        "language": "en", "checks": [_CHECK], "considered": 1, "candidates": [_CANDIDATE], "note": SECRET,
        "created_at": "2026-11-21T12:00:00Z",
    },
    DeadLetter: {
        "stage": "triage", "error": "the model was away", "topic": "flags", "partition": 0, "offset": 5,
        "key": "birdsong/1", "value": "e30=", "headers": [["trace", "dC0x"]], "at": "2026-11-21T12:00:00Z",
    },
}  # fmt: skip

_RAW = {
    "@nested@": b"[" * 3_000 + b"]" * 3_000,
    "@objects@": b'{"a":' * 3_000 + b"1" + b"}" * 3_000,
    "@digits@": b"9" * 5_000,
    "@long@": b"9" * 400,
    "@overflow@": b"1e999",
    "@half@": b'"\\ud800"',
    "@pair@": b'"\\ud83d\\ude00"',
    "@bytes@": b'"\xed\xa0\x80"',
}
"""Raw JSON that Python's own `json.dumps` would not write."""

_MOMENTS = st.sampled_from([
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00Z", "2026-02-30T00:00:00Z",
    "2026-11-21T12:00:00", "2026-11-21T12:00:00+99:99", "-000001-01-01T00:00:00Z", "+275760-09-13T00:00:00Z", 1e300,
    -62135596801, 253402300800,
])  # fmt: skip
_NUMBERS = st.one_of(
    st.sampled_from([2**31 - 1, 2**31, 2**63, 2**64, -1, 0, 10**30, 1e308, float("nan"), float("inf"), "@digits@",
                     "@long@", "@overflow@"]),
    st.integers(), st.floats(),
)  # fmt: skip
_TEXTS = st.one_of(
    st.sampled_from([
        "", " ", "\0", "\x1b[31m", "\u202e", "x" * (MAX_TEXT + 1), "[/red]", "../..", "model", "MODEL", "draft", "e30",
        "====", "@half@", "@pair@", "@bytes@",
    ]),
    st.text(max_size=20),
)  # fmt: skip
_ODD = st.one_of(
    _MOMENTS, _NUMBERS, _TEXTS,
    st.sampled_from([None, True, [], {}, [[]], ["x"] * 60, {"a": {"b": {}}}, "@nested@", "@objects@"]).map(deepcopy),
)  # fmt: skip


def _like(value: object) -> st.SearchStrategy[Any]:
    """Return odd values of the same type as `value`, which get past more validation than those of another type."""
    if isinstance(value, str):
        return _MOMENTS if value.startswith("2026-") else _TEXTS
    return _NUMBERS if isinstance(value, int | float) else _ODD


@st.composite
def spoiled(draw: st.DrawFn, kind: type[BaseModel]) -> bytes:
    """Draw the bytes of a record of `kind`, with values changed, duplicated or missing, or with damaged bytes."""
    value = deepcopy(VALID[kind])
    for _ in range(draw(st.integers(0, 3))):
        _spoil(draw, value)
    data = json.dumps(value).encode()
    for name, raw in _RAW.items():
        data = data.replace(json.dumps(name).encode(), raw)
    if draw(st.integers(0, 4)) == 4:
        name = draw(st.sampled_from(sorted(VALID[kind])))
        twice = json.dumps({name: draw(_ODD)}).encode()
        data = twice[:-1] + b"," + data[1:] if draw(st.booleans()) else data[:-1] + b"," + twice[1:]
    return _damaged(draw, data)


def _spoil(draw: st.DrawFn, value: Any) -> None:
    """Change one place in parsed JSON, at any depth."""
    while True:
        names = list(value) if isinstance(value, dict) else list(range(len(value)))
        name = draw(st.sampled_from(names))
        if isinstance(value[name], dict | list) and value[name] and draw(st.integers(0, 4)) < 4:
            value = value[name]
            continue
        match draw(st.integers(0, 7)):
            case 7 if len(names) > 1:
                del value[name]
            case 6 if isinstance(value, dict):
                value[f"more_{name}"] = draw(_ODD)
            case 5:
                value[name] = draw(_ODD)
            case _:
                value[name] = draw(_like(value[name]))
        return


def _damaged(draw: st.DrawFn, data: bytes) -> bytes:
    match draw(st.integers(0, 9)):
        case 9:
            place = draw(st.integers(0, len(data) - 1))
            return data[:place] + bytes([data[place] ^ (1 << draw(st.integers(0, 7)))]) + data[place + 1 :]
        case 8:
            return data[: draw(st.integers(0, len(data)))]
        case 7:
            place = draw(st.integers(0, len(data)))
            return data[:place] + draw(st.binary(max_size=8)) + data[place:]
        case 6:
            return draw(st.binary(max_size=40))
        case _:
            return data
