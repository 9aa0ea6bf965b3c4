"""Hints at self-harm go to people, as plain words do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.domain import Route
from core.errors import BadInput, WeightsError
from core.settings import TriageSettings
from models.embed import Embedder
from pipeline import routing_rules
from pipeline.self_harm import SelfHarmHead
from pipeline.triage import Triager
from tests.factories import make_post


@pytest.mark.parametrize(
    "text",
    [
        "i gave my cat to a friend today, she will be better off there. thanks for everything, all of you",
        "Ya he dejado las cartas escritas. Cuidaos mucho, de verdad.",
        "Sono stanco di essere di troppo ovunque. Fra poco avrete pace.",
        "Nekatuta nago denaz. Laster ez naiz inoren traba izango.",
    ],
)
async def test_a_hint_is_escalated_with_a_reason_that_says_so(embedder: Embedder, text: str) -> None:
    triage = await Triager(embedder, TriageSettings()).triage(make_post(text=text))
    assert (triage.route, triage.reason) == (Route.ESCALATE, routing_rules.HINT_AT_SELF_HARM)
    strict = await Triager(embedder, TriageSettings(self_harm_from=1.0)).triage(make_post(text=text))
    assert strict.route is not Route.ESCALATE


@pytest.mark.parametrize(
    "text",
    [
        "This is my last post here, I'm moving to another app. See you there!",
        "Refugees take our jobs and houses, send them home",
        "Las mujeres no deberían votar",
        "Questa settimana al lavoro sono morta di stanchezza",
        "Kanpaldi zoragarria izan da, nekatuta baina pozik",
    ],
)
async def test_a_farewell_weariness_and_hate_are_no_hints(embedder: Embedder, text: str) -> None:
    triage = await Triager(embedder, TriageSettings()).triage(make_post(text=text))
    assert triage.route is not Route.ESCALATE


def test_what_a_rule_finds_is_told_by_that_rule() -> None:
    found = routing_rules.escalation("I want to kill myself", 0.0, 1.0, hints_at_self_harm=True)
    assert found == routing_rules.rule(routing_rules.SELF_HARM)
    threat = routing_rules.escalation("Zorblaxians ruin everything", 0.9, 0.5, hints_at_self_harm=True)
    assert threat == routing_rules.rule(routing_rules.VIOLENCE)


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 torn"])
def test_a_missing_or_torn_file_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "self_harm.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(WeightsError, match=r"self_harm\.npz"):
        SelfHarmHead.load(path)


def test_a_vector_of_another_length_is_refused() -> None:
    head = SelfHarmHead.load()
    with pytest.raises(BadInput, match="reads 384 numbers, not a shape of"):
        head.score(np.ones(4, np.float32))
    assert 0.0 <= head.score(np.full(384, 1e6, np.float32)) <= 1.0
