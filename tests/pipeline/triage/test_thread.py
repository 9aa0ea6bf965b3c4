"""Whom a post means by "they" is found in its thread."""

from __future__ import annotations

import pytest

from core.domain import GroupScore, Route, TargetGroup
from core.settings import TriageSettings
from models.e5 import Reading
from models.embed import Embedder
from pipeline import thread
from pipeline.heads import SURE, Scores
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


async def test_only_the_nearest_posts_of_a_long_thread_are_read(
    triager: Triager, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    reading = triager._reading

    async def counting(text: str) -> Reading:
        read.append(text)
        return await reading(text)

    monkeypatch.setattr(triager, "_reading", counting)
    weather = ("lovely weather today " * 40,) * 46
    triage = await triager.triage(make_post(text="they ruin everything they touch", context=(MOSQUE, *weather)))
    assert len(read) == 1 + thread.NEAREST
    assert not triage.reason.endswith(BY_THREAD)


async def test_who_is_escalated_or_dismissed_is_not_looked_for(
    triager: Triager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thread, "means_others", lambda *_: pytest.fail("the thread was read"))
    for text, earlier in (("kill them all", None), ("they ruin everything they touch", "x/1")):
        triage = await triager.triage(make_post(text=text, context=(MOSQUE,)), duplicate_of=earlier)
        assert triage.route in (Route.ESCALATE, Route.DISMISS)


def test_the_nearest_posts_come_first_and_lose_words_at_their_beginning() -> None:
    together = list(thread.with_earlier("they lie", ("oldest", "one", "two", f"{'a lovely morning ' * 3}three"), 50))
    assert together == ["a lovely morning a lovely morning three\nthey lie", "two\nthey lie", "one\nthey lie"]
    assert not list(thread.with_earlier("they lie", ("one",), 48))


def test_a_group_counts_only_if_the_earlier_post_makes_it_likelier() -> None:
    def scores(**groups: float) -> Scores:
        return Scores({group: groups.get(group.value, 0.01) for group in TargetGroup}, 0.9, 0.0)

    alone = scores(women=0.48, migrants=0.3)
    assert thread.shown(alone, scores(women=0.55, migrants=0.4)) == ()
    meant = thread.shown(alone, scores(women=0.55, muslims=0.7, migrants=0.8))
    assert [score.group for score in meant] == [TargetGroup.MIGRANTS, TargetGroup.MUSLIMS]


def test_basque_words_for_these_stand_for_people_where_a_clause_begins() -> None:
    assert thread.means_others("Etorri dira, horiek lapurrak dira", "eu", UNSURE)
    assert thread.means_others("Horiek lapurrak dira", "eu", UNSURE)
    assert not thread.means_others("Etxe horiek garestiak dira", "eu", UNSURE)


REFERRING = {
    "en": "I want them gone", "es": "hay que echarlos ya, esa gente sobra", "it": "quelli rubano",
    "eu": "haiek lapurrak dira", "de": "Die da klauen doch alle", "fr": "Ces gens volent tous",
}  # fmt: skip
NAMING_NOBODY = {
    "en": ["This theme is a hem of the system", "Every idiot has their opinion, and you are one"],
    "es": ["¿Cómo estás, imbécil?", "Estás loca", "Me gustan los regalos", "Carlos, basta de charlas", "Las escalas"],
    "it": ["Il mare le piace", "Queste tasse sono una rapina", "Sei un idiota"],
    "eu": ["Eguraldi ederra dago gaur", "Prezio horiek lapurreta dira"],
    "de": ["Sie sind ein Idiot, Herr Müller", "Ihre Meinung ist Müll", "Diese Steuern sind Raub"],
    "fr": ["Le temps est mauvais", "Ces impôts sont du vol"],
}


@pytest.mark.parametrize("language", list(packs()))
def test_every_language_knows_what_stands_for_people(language: str) -> None:
    assert thread.means_others(REFERRING[language], language, UNSURE)
    assert [text for text in NAMING_NOBODY[language] if thread.means_others(text, language, UNSURE)] == []


def test_another_language_is_read_like_english() -> None:
    assert thread.means_others("them", "xx", UNSURE)
    assert not thread.means_others("them", "xx", (GroupScore(group=TargetGroup.JEWS, score=SURE),))
    assert not thread.means_others("them", "xx", ())
