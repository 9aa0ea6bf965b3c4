"""What a draft states: by clauses without a model, and as a chat model writes it down."""

from __future__ import annotations

import pytest

from evaluation.metrics.triplets import ChatTriplets, ClauseTriplets, Triplet
from tests.models.scripted_chat import ScriptedChat


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "en",
            "Migrants work and pay taxes, and the Charter protects them. Why hate them?",
            [("Migrants", "work", ""), ("Migrants", "pay", "taxes"), ("the Charter", "protects", "them")],
        ),
        ("en", "In 2025, the Council condemned denial.", [("In 2025, the Council", "condemned", "denial")]),
        ("en", "They do not commit more crimes.", [("They", "do not commit", "more crimes")]),
        ("en", "The work of a harbour never ends.", [("The work of a harbour never ends", "", "")]),
        (
            "es",
            "Las mujeres trabajan y pagan impuestos.",
            [("Las mujeres", "trabajan", ""), ("Las mujeres", "pagan", "impuestos")],
        ),
        ("it", "La Carta non vieta il lavoro.", [("La Carta", "non vieta", "il lavoro")]),
        ("eu", "Marinelek portua egin dute.", [("Marinelek portua egin", "dute", "")]),
        ("pl", "Karta chroni ludzi.", [("Karta chroni ludzi", "", "")]),
        ("en", "Why?", []),
    ],
)
async def test_clauses_are_taken_apart_around_their_verbs(
    language: str, text: str, expected: list[tuple[str, str, str]]
) -> None:
    assert await ClauseTriplets().triplets(text, language) == [Triplet(*parts) for parts in expected]


async def test_a_chat_model_writes_triplets_down() -> None:
    chat = ScriptedChat("The Charter | protects | sailors\nThe Charter | bans | unpaid work")
    triplets = await ChatTriplets(chat).triplets("The Charter protects sailors and bans unpaid work.", "en")
    assert [triplet.statement for triplet in triplets] == [
        "The Charter protects sailors",
        "The Charter bans unpaid work",
    ]


async def test_what_a_chat_model_adds_is_none_of_the_drafts_statements() -> None:
    chat = ScriptedChat("The Charter | protects | sailors\nGoats | danced at | noon yesterday")
    triplets = await ChatTriplets(chat).triplets("The Charter protects sailors.", "en")
    assert [triplet.subject for triplet in triplets] == ["The Charter"]


async def test_a_draft_without_facts_has_no_triplets() -> None:
    assert await ChatTriplets(ScriptedChat("none")).triplets("How kind of you.", "en") == []


async def test_an_answer_that_is_no_triplet_is_read_by_clauses() -> None:
    triplets = await ChatTriplets(ScriptedChat("Sure! Here you go")).triplets("Sailors pay taxes.", "en")
    assert triplets == [Triplet("Sailors", "pay", "taxes")]
