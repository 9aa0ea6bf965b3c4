"""Whom a post means by "they" is found in its thread."""

from __future__ import annotations

import pytest

from core.domain import GroupScore, TargetGroup
from core.settings import TriageSettings
from models.embed import Embedder
from pipeline import thread
from pipeline.heads import SURE
from pipeline.languages import packs
from pipeline.triage import Triager
from tests.factories import make_post

BY_THREAD = "Whom it means is taken from the thread."
MOSQUE = "The new mosque opens on Friday, everybody is welcome to visit."
UNSURE = (GroupScore(group=TargetGroup.MIGRANTS, score=0.3),)


@pytest.fixture
def triager(embedder: Embedder) -> Triager:
    return Triager(embedder, TriageSettings())


@pytest.mark.parametrize(
    ("earlier", "text", "group"),
    [
        (MOSQUE, "they ruin everything they touch", "muslims"),
        ("The synagogue in our town was founded 120 years ago.", "These people control everything, wake up", "jews"),
        ("Wheelchair users get a discount on the tram.", "They just want our money and never work", "disabled"),
        ("The company has its first female director.", "They are too emotional to lead anything", "women"),
        ("Nel campo rom sono arrivati i mediatori.", "Quella gente ruba e basta, mandateli via", "people_of_colour"),
        ("Errefuxiatuentzako harrera-zentro bat ireki dute.", "Horiek denak alferrak eta lapurrak dira", "migrants"),
        ("Han abierto una mezquita en el barrio.", "Habría que echarlos a todos, esa gente no se integra", "muslims"),
    ],
)
async def test_the_thread_says_whom_they_means(triager: Triager, earlier: str, text: str, group: str) -> None:
    alone = await triager.triage(make_post(text=text))
    triage = await triager.triage(make_post(text=text, context=("Good morning, everybody.", earlier)))
    assert triage.groups[0].group.value == group
    assert triage.groups[0].score >= SURE > alone.groups[0].score
    assert triage.reason.endswith(BY_THREAD)
    assert (triage.hate, triage.threat, triage.route) == (alone.hate, alone.threat, alone.route)


@pytest.mark.parametrize(
    "text",
    [
        "Refugees take our jobs and houses, and they never work",  # It names somebody itself.
        "Everything is ruined in this town, what a disgrace",  # It speaks of nobody.
        "They sell lovely bread at the market on Fridays",  # It attacks nobody.
    ],
)
async def test_other_posts_are_read_alone(triager: Triager, text: str) -> None:
    alone = await triager.triage(make_post(text=text))
    assert await triager.triage(make_post(text=text, context=(MOSQUE,))) == alone


async def test_a_thread_that_names_nobody_changes_nothing(triager: Triager) -> None:
    text = "they deserve nothing from us"
    alone = await triager.triage(make_post(text=text))
    assert await triager.triage(make_post(text=text, context=("The council votes today.", "👍", " \u200b"))) == alone


async def test_a_thread_of_the_greatest_size_costs_a_few_readings(triager: Triager) -> None:
    text = "they ruin everything they touch"
    triage = await triager.triage(make_post(text=text, context=("lovely weather today " * 40,) * 46 + (MOSQUE,) * 3))
    assert triage.groups[0].group is TargetGroup.MUSLIMS


def test_the_nearest_posts_come_first_and_are_cut_at_their_beginning() -> None:
    together = list(thread.with_earlier("they lie", ("oldest", "one", "two", "a lovely morning three"), 20))
    assert together == ["rning three\nthey lie", "two\nthey lie", "one\nthey lie"]
    assert not list(thread.with_earlier("they lie", ("one",), 9))


REFERRING = {
    "en": "I want them gone", "es": "que se vayan todos ellos", "it": "loro rubano", "eu": "haiek lapurrak dira",
    "de": "Die da klauen doch alle", "fr": "Ces gens volent tous",
}  # fmt: skip
NAMING_NOBODY = {
    "en": "This theme is a hem of the system", "es": "El bar abre los lunes", "it": "Il mare le piace",
    "eu": "Eguraldi ederra dago gaur", "de": "Das Wetter ist heute schlecht", "fr": "Le temps est mauvais",
}  # fmt: skip


@pytest.mark.parametrize("language", list(packs()))
def test_every_language_knows_what_stands_for_people(language: str) -> None:
    assert thread.means_others(REFERRING[language], language, UNSURE)
    assert not thread.means_others(NAMING_NOBODY[language], language, UNSURE)


def test_another_language_is_read_like_english() -> None:
    assert thread.means_others("them", "xx", UNSURE)
    assert not thread.means_others("them", "xx", (GroupScore(group=TargetGroup.JEWS, score=SURE),))
    assert not thread.means_others("them", "xx", ())
