"""The judges of free sentences: what they let pass, what they stop, and what they are not asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from core.errors import BadSettings
from models.embedders import default_embedder
from models.entailment import Pair
from pipeline.guard import GuardContext
from pipeline.guard.entailed import EntailedCheck
from pipeline.guard.material import material
from pipeline.guard.opposition import OpposesCheck
from pipeline.guard.stance_head import HeadOpposition, StanceHead
from tests.factories import make_evidence, make_post

FACT = "In Europe, less than 20% of Roma are nomadic, says a report of the Council of Europe."


class ScriptedJudge:
    """An Opposition and Entailment that gives every text one probability and remembers what it was asked."""

    name = "scripted"

    def __init__(self, probability: float, languages: frozenset[str] | None = None) -> None:
        self.languages = languages
        self.asked: list[str] = []
        self._probability = probability

    async def probabilities(self, post: str, sentences: Sequence[str], language: str) -> list[float]:
        self.asked += sentences
        return [self._probability] * len(sentences)

    async def follows(self, pairs: Sequence[Pair]) -> list[float]:
        self.asked += [pair.hypothesis for pair in pairs]
        return [self._probability] * len(pairs)


def _context(language: str = "en") -> GuardContext:
    return GuardContext(make_post(text="roma just want to wander"), language, evidence=(make_evidence(text=FACT),))


@pytest.mark.parametrize(("probability", "passed"), [(0.4, False), (0.6, True)])
async def test_only_sentences_that_are_not_on_file_are_judged(probability: float, passed: bool) -> None:
    judge, context = ScriptedJudge(probability), _context()
    texts = [f"Everybody wants a home. {FACT}", FACT]
    free, quoted = await OpposesCheck(judge, 0.5).check_many([material(text, context) for text in texts], context)
    assert (free.passed, quoted.passed) == (passed, True)
    assert judge.asked == ["Everybody wants a home."]


async def test_what_no_judge_can_read_is_not_shown() -> None:
    judge, context = ScriptedJudge(1.0, frozenset({"en"})), _context("fr")
    free = material("Tout le monde veut une maison.", context)
    (result,) = await OpposesCheck(judge, 0.5).check_many([free], context)
    assert not result.passed
    assert judge.asked == []


@pytest.mark.parametrize(("probability", "passed"), [(0.4, False), (0.6, True)])
async def test_statements_of_fact_must_follow_and_values_need_not(probability: float, passed: bool) -> None:
    model, context = ScriptedJudge(probability), _context()
    texts = ["Only 20% of Roma in Europe are nomadic.", "Everybody wants a home."]
    stated, value = await EntailedCheck(model, 0.5).check_many([material(text, context) for text in texts], context)
    assert (stated.passed, value.passed) == (passed, True)


@pytest.fixture(scope="module")
def head() -> Iterator[StanceHead]:
    yield StanceHead.load()


@pytest.mark.parametrize(
    ("language", "post", "good", "bad"),
    [
        ("en", "roma steal", "Nobody is worth less for their origin.", "You are right that Roma steal."),
        ("es", "los gitanos roban", "Nadie vale menos por su origen.", "Tienes razón, los gitanos roban."),
        ("it", "i rom rubano", "Nessuno vale meno per la sua origine.", "Hai ragione, i rom rubano."),
        ("eu", "ijitoek lapurtzen dute", "Inor ez da gutxiago.", "Arrazoi duzu, ijitoek lapurtzen dute."),
    ],
)
async def test_the_head_tells_a_value_from_agreement(
    head: StanceHead, language: str, post: str, good: str, bad: str
) -> None:
    judge = HeadOpposition(default_embedder(), head)
    high, low = await judge.probabilities(post, [good, bad], language)
    assert high > 0.5 > low


async def test_the_head_reads_no_more_than_the_beginning(head: StanceHead) -> None:
    judge = HeadOpposition(default_embedder(), head)
    assert await judge.probabilities("x " * 50_000, ["You are right. " * 5_000], "en")


def test_the_head_refuses_another_embedder(head: StanceHead) -> None:
    embedder = default_embedder()
    other = StanceHead(head.mean, head.weights, head.bias, "another model")
    with pytest.raises(BadSettings, match=r"guard\.judge is `head`"):
        HeadOpposition(embedder, other)
