"""Word salad, repetition and unusual characters: what the check `garbled` stops, and what it lets pass."""

from __future__ import annotations

import pytest

from core.settings import GuardSettings
from pipeline.guard import GuardContext
from pipeline.guard.garbled import not_garbled
from pipeline.guard.material import material
from pipeline.guard.measurement import Measurement
from pipeline.guard.word_order import SHORTEST, word_orders
from tests.factories import make_evidence, make_post

FACT = "In Europe, less than 20% of Roma are nomadic, says a report of the Council of Europe."


def _measured(text: str, language: str = "en") -> Measurement:
    context = GuardContext(make_post(text="roma just wander"), language, evidence=(make_evidence(text=FACT),))
    return not_garbled(material(text, context), context, GuardSettings())


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Home the a want of family every and the in live to is.", "en"),
        ("Casa una la de quiere familia que en y los vivir.", "es"),
        ("Casa una di la vuole famiglia che in e gli vivere.", "it"),
        ("Bat etxe eta nahi familia dute den da bizi bat.", "eu"),
    ],
)
def test_words_in_no_usual_order_are_stopped(text: str, language: str) -> None:
    assert "no usual order" in _measured(text, language).detail


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Every family wants a home, and Roma families are no exception.", "en"),
        ("Todas las familias quieren una casa donde vivir en paz.", "es"),
        ("Ogni famiglia vuole una casa dove vivere in pace.", "it"),
        ("Familia guztiek etxe bat nahi dute bakean bizitzeko.", "eu"),
        ("Everybody here had had quite enough of all that by then.", "en"),
        ("Of Roma families, 80 % live at or below that line, on € 5 a day.", "en"),
        ("Gehienek (% 62) hala uste dute.", "eu"),
        ("La 1.ª ley y el artículo 2.º dicen lo contrario.", "es"),
        ("The Qurʼan says nothing of the kind about anybody.", "en"),
        ("Никто не хуже других из-за этого.", "ru"),
        (FACT, "en"),
        ("Each is no off of by.", "de"),
        ("", "en"),
    ],
)
def test_sentences_pass_and_so_does_what_no_table_knows(text: str, language: str) -> None:
    assert _measured(text, language).passed


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("No more than that, no more than that.", "over again"),
        ("The the people people live here.", "over again"),
        ("Roma live in many places ² and work there.", "unusual characters"),
        ("Over ⅓ of Roma said that they had been insulted.", "unusual characters"),
        ("The agency of the Union reported it in ۲۰۲۵.", "unusual characters"),
        ("The agency of the Union reported it in ２０２５.", "unusual characters"),
        ("The agency of the Union reported it in ￥ ￥ ￥.", "a sign where a figure"),
        ("Their share rose from % in % to % (IPU).", "a sign where a figure"),
        ("The agency of the Union reported it in ـ.", "another script"),
        ("The agency of the Union reported it in ˜ ˜.", "a sign where a figure"),
    ],
)
def test_repetition_and_unusual_characters_are_stopped(text: str, fault: str) -> None:
    measured = _measured(f"{text} {FACT}")
    assert fault in measured.detail
    assert measured.value == 1


def test_each_language_on_file_has_a_word_order() -> None:
    assert set(word_orders()) == {"en", "es", "it", "eu"}


def test_few_words_have_no_order_to_judge() -> None:
    salad = ["Of", "the", "is", "and", "no"]
    assert len(salad) < SHORTEST
    assert _measured(" ".join(salad) + ".").passed
