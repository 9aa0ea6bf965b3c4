"""Match posts to the claims on file, with the shipped model and with a judge that knows nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain import TargetGroup
from core.errors import BadInput, KnowledgeBaseError
from core.settings import KnowledgeBaseSettings
from kb.claims import judge as judging
from kb.claims import matching
from kb.claims.loading import load_claims
from kb.claims.matching import FEW, MOST_CLAIMS, MOST_FACTS, ClaimMatcher
from kb.claims.ranking import ClaimRanker
from kb.claims.reviews import Reviews
from kb.claims.second_opinion import NAMES, ClaimOpinion, shipped_opinions
from kb.query import Vectors
from models.e5_tuned import SUMMED
from models.embed import Embedder
from models.embedders import default_embedder

FILES = load_claims()


@pytest.fixture
async def e5() -> AsyncIterator[Embedder]:
    embedder = default_embedder()
    yield embedder
    await embedder.close()


@pytest.fixture(scope="module")
def matcher() -> ClaimMatcher:
    async def opened() -> ClaimMatcher:
        embedder = default_embedder()
        try:
            return await ClaimMatcher.open(FILES, Reviews(), embedder, KnowledgeBaseSettings())
        finally:
            await embedder.close()

    return asyncio.run(opened())


@pytest.mark.parametrize(
    ("text", "language", "group", "claim"),
    [
        ("they come here only to live off our benefits", "en", TargetGroup.MIGRANTS, "migrants-live-off-benefits"),
        ("the jews own every newspaper and tv station", "en", TargetGroup.JEWS, "jews-media-control"),
        ("las mujeres se inventan las violaciones para vengarse", "es", TargetGroup.WOMEN, "women-lie-about-rape"),
        ("gli invalidi fingono per prendere la pensione", "it", TargetGroup.DISABLED, "disabled-benefit-fakers"),
        ("feministek gizonak gorroto dituzte", "eu", TargetGroup.WOMEN, "women-feminists-hate-men"),
    ],
)
async def test_a_post_gets_its_claim_and_facts_in_its_language(
    matcher: ClaimMatcher, e5: Embedder, text: str, language: str, group: TargetGroup, claim: str
) -> None:
    vector = (await e5.queries([text]))[0]
    claims, facts = matcher.match(text, vector, [group], language)
    assert claim in [found.id for found in claims]
    assert claims[0].score >= KnowledgeBaseSettings().claim_from
    assert [found.score for found in claims] == sorted((found.score for found in claims), reverse=True)
    assert len(claims) <= MOST_CLAIMS
    assert len(facts) <= MOST_FACTS
    assert {fact.language for fact in facts} == {language}
    assert all(any(found.id in fact.claims for fact in facts) for found in claims)


async def test_a_post_that_is_a_wording_on_file_surely_makes_its_claim(matcher: ClaimMatcher, e5: Embedder) -> None:
    for text, language, claim in (
        ("Etorkinek lana kentzen digute.", "eu", "migrants-take-jobs"),
        ("LOS GITANOS SON LADRONES!!", "es", "people-of-colour-roma-thieves"),
    ):
        vector = (await e5.queries([text]))[0]
        claims, facts = matcher.match(text, vector, [], language)
        assert [each.id for each in claims] == [claim]
        assert facts


async def test_a_wording_of_several_claims_is_that_of_the_group_which_is_attacked(
    matcher: ClaimMatcher, e5: Embedder
) -> None:
    owners = Counter(
        (wording, FILES.group_of(claim)) for claim in FILES.claims.values() for wording in claim.wordings["en"]
    )
    shared = next(text for text, many in Counter(text for text, _ in owners).items() if many > 1)
    group = next(group for text, group in owners if text == shared)
    vector = (await e5.queries([shared]))[0]
    claims, _ = matcher.match(shared, vector, [group], "en")
    assert claims[0].score == 1.0
    assert FILES.group_of(FILES.claims[claims[0].id]) is group
    unsure = matcher.read(shared, vector, [], "en")
    assert max(unsure.claims.values()) < 1.0


async def test_a_post_that_claims_nothing_gets_nothing(matcher: ClaimMatcher, e5: Embedder) -> None:
    for text, language in (
        ("The train to Lisbon leaves at nine from platform four.", "en"),
        ("Busco recomendaciones de series.", "es"),
        ("Qualcuno sa a che ora chiude la piscina comunale?", "it"),
        ("Gaur arratsaldean kontzertua dago plazan.", "eu"),
    ):
        assert matcher.match(text, (await e5.queries([text]))[0], [], language) == ((), ())


async def test_the_limit_of_answers_says_how_likely_one_on_file_must_be(matcher: ClaimMatcher, e5: Embedder) -> None:
    def answerable(text: str, vector: Vectors) -> float:
        return matcher.read(text, vector, [TargetGroup.MIGRANTS], "en").answerable

    claim, rude = "these foreigners only come to live off our benefits", "my stupid phone died again"
    vectors = await e5.queries([claim, rude])
    assert answerable(claim, vectors[0]) > max(KnowledgeBaseSettings().answer_from, answerable(rude, vectors[1]))
    strict = await ClaimMatcher.open(FILES, Reviews(), e5, KnowledgeBaseSettings(answer_from=1.0, show_from=1.0))
    assert strict.match(claim, vectors[0], [TargetGroup.MIGRANTS], "en") == ((), ())
    shown = await ClaimMatcher.open(FILES, Reviews(), e5, KnowledgeBaseSettings(answer_from=1.0))
    claims, facts = shown.match(claim, vectors[0], [TargetGroup.MIGRANTS], "en")
    assert facts and claims and all(answer.unsure for answer in claims)
    assert not any(answer.unsure for answer in matcher.match(claim, vectors[0], [TargetGroup.MIGRANTS], "en")[0])


async def test_a_post_of_which_no_claim_is_sure_gets_few_facts(
    matcher: ClaimMatcher, e5: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "the jews own every newspaper and tv station"
    vector = (await e5.queries([text]))[0]
    assert len(matcher.match(text, vector, [TargetGroup.JEWS], "en")[1]) > FEW
    monkeypatch.setattr(matching, "SURE", 1.1)
    claims, facts = matcher.match(text, vector, [TargetGroup.JEWS], "en")
    assert 0 < len(claims) <= len(facts) == FEW


@pytest.mark.parametrize(
    ("narrower", "wider", "first"),
    [
        (0.6, 0.5, "jews-slur"),
        (0.45, 0.5, "jews-slur"),
        (0.25, 0.9, "jews-slur"),
        (0.22, 0.9, "jews-insult"),
        (0.15, 0.2, "jews-insult"),
        (0.45, 1.0, "jews-insult"),
    ],
)
async def test_a_claim_that_is_likely_enough_stands_in_for_a_wider_one(
    matcher: ClaimMatcher, monkeypatch: pytest.MonkeyPatch, narrower: float, wider: float, first: str
) -> None:
    claims = dict.fromkeys(matcher.names, 0.01) | {"jews-insult": wider, "jews-slur": narrower}
    monkeypatch.setattr(matcher, "read", lambda *_: matching.ClaimReading(claims, np.ones(5, np.float32), 0.9))
    answered, facts = matcher.match("any", np.ones(384, np.float32), [TargetGroup.JEWS], "en")
    assert (answered[0].id, answered[0].score) == (first, max(wider, narrower))
    assert facts[0].id == FILES.claims[first].facts[0]


async def test_a_claim_that_stands_in_for_a_wider_one_is_not_taken_where_it_is_unlikely(
    matcher: ClaimMatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = dict.fromkeys(matcher.names, 0.01) | {"jews-slur": 0.09}
    monkeypatch.setattr(matcher, "read", lambda *_: matching.ClaimReading(claims, np.ones(5, np.float32), 0.9))
    assert matcher.match("any", np.ones(384, np.float32), [TargetGroup.JEWS], "en") == ((), ())


@pytest.mark.parametrize(("probability", "taken"), [(0.29, []), (0.31, ["women-slur-as-insult"])])
async def test_a_claim_may_have_a_limit_of_its_own(
    matcher: ClaimMatcher, monkeypatch: pytest.MonkeyPatch, probability: float, taken: list[str]
) -> None:
    assert FILES.claims["women-slur-as-insult"].least == 0.3
    claims = dict.fromkeys(matcher.names, 0.01) | {"women-slur-as-insult": probability}
    monkeypatch.setattr(matcher, "read", lambda *_: matching.ClaimReading(claims, np.ones(5, np.float32), 0.9))
    answered, _ = matcher.match("any", np.ones(384, np.float32), [TargetGroup.WOMEN], "en")
    assert [claim.id for claim in answered] == taken


@pytest.mark.parametrize(("language", "hate", "unsure"), [("en", 0.84, True), ("en", 0.86, False), ("es", 0.5, False)])
async def test_a_claim_may_be_unsure_where_hate_is_unlikely(
    matcher: ClaimMatcher, monkeypatch: pytest.MonkeyPatch, language: str, hate: float, unsure: bool
) -> None:
    assert FILES.claims["women-slur-as-insult"].least_hate == {"en": 0.85}
    claims = dict.fromkeys(matcher.names, 0.01) | {"women-slur-as-insult": 0.9}
    monkeypatch.setattr(matcher, "read", lambda *_: matching.ClaimReading(claims, np.ones(5, np.float32), 0.9))
    (answered,), facts = matcher.match("any", np.ones(384, np.float32), [TargetGroup.WOMEN], language, hate=hate)
    assert (answered.id, answered.unsure, bool(facts)) == ("women-slur-as-insult", unsure, True)


async def test_a_wording_word_for_word_is_answered_however_unlikely_hate_is(
    matcher: ClaimMatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = dict.fromkeys(matcher.names, 0.01) | {"women-insult": 1.0}
    monkeypatch.setattr(matcher, "read", lambda *_: matching.ClaimReading(claims, np.ones(5, np.float32), 0.9))
    (answered,), _ = matcher.match("any", np.ones(384, np.float32), [TargetGroup.WOMEN], "en", hate=0.1)
    assert not answered.unsure


async def test_less_is_enough_in_a_language_of_which_models_are_less_sure(
    matcher: ClaimMatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = dict.fromkeys(matcher.names, 0.01) | {"women-feminists-hate-men": 0.08}
    monkeypatch.setattr(matcher, "read", lambda *_: matching.ClaimReading(claims, np.ones(5, np.float32), 0.9))
    in_english, in_basque = (
        matcher.match("any", np.ones(384, np.float32), [TargetGroup.WOMEN], language)[0] for language in ("en", "eu")
    )
    assert in_english == ()
    assert [claim.id for claim in in_basque] == ["women-feminists-hate-men"]


def test_a_vector_of_another_embedder_is_refused_with_what_to_do(matcher: ClaimMatcher) -> None:
    with pytest.raises(BadInput, match="has 4 numbers, not 384: triage it again"):
        matcher.match("any", np.ones(4, np.float32), [TargetGroup.WOMEN], "en")


async def test_a_post_in_a_language_without_claims_gets_nothing(matcher: ClaimMatcher, e5: Embedder) -> None:
    text = "they come here only to live off our benefits"
    vector = (await e5.queries([text]))[0]
    assert matcher.match(text, vector, [TargetGroup.MIGRANTS], "fr") == ((), ())


async def test_a_clear_claim_is_found_under_another_group_though_less_surely(
    matcher: ClaimMatcher, e5: Embedder
) -> None:
    text = "los seis millones es una exageración, los números no salen"
    vector = (await e5.queries([text]))[0]
    told, mistaken = (
        matcher.read(text, vector, [group], "es").claims["jews-six-million-exaggerated"]
        for group in (TargetGroup.JEWS, TargetGroup.MIGRANTS)
    )
    assert told > mistaken > KnowledgeBaseSettings().claim_from


async def test_a_reading_gives_every_claim_and_kind_a_probability(matcher: ClaimMatcher, e5: Embedder) -> None:
    vector = (await e5.queries(["feminists hate men"]))[0]
    reading = matcher.read("feminists hate men", vector, [TargetGroup.WOMEN], "en")
    assert set(reading.claims) == set(FILES.claims)
    assert list(reading.claims.values()) == sorted(reading.claims.values(), reverse=True)
    assert float(reading.kinds.sum()) == pytest.approx(1.0, abs=1e-4)


def knowing(claim: str, answered: float) -> ClaimOpinion:
    """Return an opinion on readings of one number that, where it is 1, goes by nothing else."""
    names = tuple(FILES.claims)
    own = np.array([[20.0 * (name == claim)] for name in names], np.float32)
    return ClaimOpinion(
        names, own, np.zeros(len(names), np.float32), np.array([answered, 0], np.float32),
        np.array([0, 1, 0, 0], np.float32), np.array([0, 1, 0], np.float32),
    )  # fmt: skip


async def test_each_reading_is_for_the_opinion_in_its_place_and_the_last_one_counts_most(e5: Embedder) -> None:
    text, first, last = "those feminists really do hate every man", "women-less-intelligent", "women-lie-about-rape"
    files, (wordings, vectors) = FILES, await matching.embedded(FILES, e5)
    opinions = knowing(first, 5.0), knowing(last, -5.0)
    two = ClaimMatcher(
        files, Reviews(), wordings, vectors, judging.shipped_judge(), KnowledgeBaseSettings(), opinions=opinions
    )
    vector, one = (await e5.queries([text]))[0], np.ones(1, np.float32)
    read = {
        readings: two.read(text, vector, [TargetGroup.WOMEN], "en", [one if each else None for each in readings])
        for readings in [(False, False), (True, False), (False, True), (True, True)]
    }
    surest = {readings: next(iter(reading.claims)) for readings, reading in read.items()}
    assert surest == {
        (False, False): "women-feminists-hate-men",
        (True, False): first,
        (False, True): last,
        (True, True): last,
    }
    assert read[True, False].answerable > 0.9 > 0.1 > read[False, True].answerable


def test_the_shipped_opinions_are_on_readings_of_the_same_length_and_on_claims_on_file() -> None:
    opinions = shipped_opinions()
    assert len(opinions) == len(NAMES) == 2
    for opinion in opinions:
        assert set(opinion.claims) <= set(FILES.claims)
        assert opinion.weights.shape == (len(opinion.claims), SUMMED)
        assert all(np.isfinite(array).all() for array in vars(opinion).values() if isinstance(array, np.ndarray))


async def test_with_another_embedder_the_nearest_two_are_taken(embedder: Any) -> None:
    matcher = await ClaimMatcher.open(FILES, Reviews(), embedder, KnowledgeBaseSettings())
    wording = FILES.claims["women-feminists-hate-men"].wordings["en"][0]
    vector = (await embedder.queries([wording]))[0]
    claims, facts = matcher.match(wording, vector, [TargetGroup.WOMEN], "en")
    assert claims[0].id == "women-feminists-hate-men"
    assert len(claims) == 2
    assert facts
    with pytest.raises(KnowledgeBaseError, match="default embedder"):
        matcher.read(wording, vector, [TargetGroup.WOMEN], "en")


async def test_a_claim_of_one_s_own_is_matched_too(tmp_path: Path, e5: Embedder) -> None:
    claim = FILES.claims["women-feminists-hate-men"]
    own = claim.model_copy(update={"id": "women-zorblax", "wordings": {"en": ("zorblax women steal every comet",) * 3}})
    place = FILES.places[claim.id]
    files = replace(FILES, claims={**FILES.claims, own.id: own}, places={**FILES.places, own.id: place})
    matcher = await ClaimMatcher.open(files, Reviews(), e5, KnowledgeBaseSettings())
    text = "those zorblax women steal all of our comets"
    claims, _ = matcher.match(text, (await e5.queries([text]))[0], [TargetGroup.WOMEN], "en")
    assert own.id in [found.id for found in claims]


def test_a_torn_judge_says_to_install_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    np.savez(tmp_path / "data" / judging.NAME, embedder=np.array("e5"))
    monkeypatch.setattr(judging, "files", lambda _: tmp_path)
    judging.shipped_judge.cache_clear()
    try:
        with pytest.raises(KnowledgeBaseError, match="install Rejoinder again"):
            judging.shipped_judge()
    finally:
        judging.shipped_judge.cache_clear()


async def test_facts_that_moderators_approve_come_first_and_say_so(matcher: ClaimMatcher, e5: Embedder) -> None:
    text, groups = "they come here only to live off our benefits", [TargetGroup.MIGRANTS]
    vector = (await e5.queries([text]))[0]
    claims, facts = matcher.match(text, vector, groups, "en")
    last = FILES.claims[claims[0].id].facts[-1]
    assert facts[0].id != last and {fact.preference for fact in facts} == {0.0}
    ranker = ClaimRanker({f"fact:{last}": 3.0, f"claim:{claims[0].id}": 5.0})
    ranking = await ClaimMatcher.open(FILES, Reviews(), e5, KnowledgeBaseSettings(), ranker)
    _, ranked = ranking.match(text, vector, groups, "en")
    assert (ranked[0].id, ranked[0].preference) == (last, 3.0)
    assert len(ranked) == len(facts)
