"""The judges of free sentences: what they let pass, what they stop, and what they are not asked about."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from math import nan

import pytest

from core.errors import ModelRefused, ModelUnavailable
from models.embedders import default_embedder
from models.entailment import Pair
from models.turns import Turns
from pipeline.guard import Guard, GuardContext, unjudged
from pipeline.guard.entailed import EntailedCheck
from pipeline.guard.judged import STEP, WINDOW, windows
from pipeline.guard.material import LONGEST_READ, material
from pipeline.guard.opposition import FitsCheck, OpposesCheck, TopicCheck
from pipeline.guard.sentence_head import FITS, STANCE, HeadJudge, HeadNearness, LateEmbedder
from tests.factories import make_evidence, make_post

FACT = "In Europe, less than 20% of Roma are nomadic, says a report of the Council of Europe."


class ScriptedJudge:
    """A SentenceJudge and Entailment that gives every text one probability and remembers what it was asked."""

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
    free, quoted = await OpposesCheck(judge, 0.5, 0.2, 10).check_many(
        [material(text, context) for text in texts], context
    )
    assert (free.passed, quoted.passed) == (passed, True)
    assert judge.asked == ["Everybody wants a home."]


async def test_what_no_judge_can_read_is_not_shown() -> None:
    judge, context = ScriptedJudge(1.0, frozenset({"en"})), _context("pl")
    free = material("Każdy chce mieć dom.", context)
    (result,) = await OpposesCheck(judge, 0.5, 0.2, 10).check_many([free], context)
    assert not result.passed
    assert "does not read “pl”" in unjudged([result])
    assert judge.asked == []


@pytest.mark.parametrize(("probability", "passed"), [(0.4, False), (0.6, True)])
async def test_statements_of_fact_must_follow_and_values_need_not(probability: float, passed: bool) -> None:
    model, context = ScriptedJudge(probability), _context()
    texts = ["Only 20% of Roma in Europe are nomadic.", "Everybody wants a home."]
    stated, value = await EntailedCheck(model, 0.5, 10).check_many([material(text, context) for text in texts], context)
    assert (stated.passed, value.passed) == (passed, True)


@pytest.mark.parametrize("order", [(0.9, nan), (nan, 0.9)])
async def test_a_judge_that_gives_no_number_lets_nothing_pass(
    order: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    check, context = EntailedCheck(ScriptedJudge(0.9), 0.5, 10), _context()

    async def probabilities(pieces: Sequence[str], context: GuardContext) -> list[float]:
        return list(order)

    monkeypatch.setattr(check, "probabilities", probabilities)
    reply = material("Only 20% of Roma in Europe are nomadic. Most Roma own a house.", context)
    (result,) = await check.check_many([reply], context)
    assert "no number" in unjudged([result])


class AbsentJudge(ScriptedJudge):
    """A judge that is away, or that takes an hour."""

    def __init__(self, error: Exception | None) -> None:
        super().__init__(1.0)
        self._error = error

    async def probabilities(self, post: str, sentences: Sequence[str], language: str) -> list[float]:
        if self._error is not None:
            raise self._error
        await asyncio.sleep(3600)
        return []

    async def follows(self, pairs: Sequence[Pair]) -> list[float]:
        return await self.probabilities("", [], "")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelUnavailable("The model server is away."), "The model server is away."),
        (ModelRefused("It tells no probabilities."), "It tells no probabilities."),
        (None, "the judge took longer than 0.05 s (guard.judge_timeout_s)"),
    ],
)
async def test_what_an_absent_judge_should_have_read_fails_and_the_rest_passes(
    error: Exception | None, reason: str
) -> None:
    judge, context = AbsentJudge(error), _context()
    free = material(f"Only 20% of Roma in Europe are nomadic. {FACT}", context)
    quoted = material(FACT, context)
    for check in (OpposesCheck(judge, 0.5, 0.2, 0.05), EntailedCheck(judge, 0.5, 0.05)):
        stopped, passing = await check.check_many([free, quoted], context)
        assert not stopped.passed
        assert reason in unjudged([stopped])
        assert passing.passed
        assert unjudged([passing]) == ""


async def test_a_fault_of_ours_in_a_judge_is_raised() -> None:
    context = _context()
    with pytest.raises(ZeroDivisionError):
        await OpposesCheck(AbsentJudge(ZeroDivisionError()), 0.5, 0.2, 10).check_many(
            [material("Hm.", context)], context
        )


async def test_a_judge_waits_for_its_turn_and_its_seconds_count_from_there() -> None:
    context, turns = _context(), Turns(1, None)
    replies = [material("Everybody wants a home.", context)]
    judge = ScriptedJudge(0.9)
    opposes = OpposesCheck(judge, 0.5, 0.2, 0.05, turns)
    async with turns.turn("a strategy"):
        waiting = asyncio.create_task(opposes.check_many(replies, context))
        await asyncio.sleep(0.1)
        assert judge.asked == []
    (result,) = await waiting
    assert result.passed, "waiting took longer than its seconds, judging did not"


async def test_a_strategy_begins_when_the_judge_has_given_its_turn_back() -> None:
    context, turns = _context(), Turns(1, None)
    replies = [material("Everybody wants a home.", context)]
    judging = asyncio.create_task(OpposesCheck(AbsentJudge(None), 0.5, 0.2, 0.05, turns).check_many(replies, context))
    await asyncio.sleep(0)
    begun = asyncio.get_running_loop().time()
    async with turns.turn("a strategy"):
        assert asyncio.get_running_loop().time() - begun > 0.04
    (result,) = await judging
    assert "took longer than 0.05 s" in result.detail


class Scoring(ScriptedJudge):
    """A judge that reads its answer from the sentence."""

    async def probabilities(self, post: str, sentences: Sequence[str], language: str) -> list[float]:
        return [float(sentence.split()[1]) / 100 for sentence in sentences]


@pytest.mark.parametrize(
    ("best", "worst", "passed"), [(90, 90, True), (90, 30, True), (90, 10, False), (40, 40, False), (40, 10, False)]
)
async def test_one_sentence_must_oppose_and_none_may_harm(best: int, worst: int, passed: bool) -> None:
    context = _context()
    reply = material(f"Say {worst} now. Say {best} here.", context)
    (result,) = await OpposesCheck(Scoring(1.0), 0.5, 0.2, 10).check_many([reply], context)
    assert result.passed is passed


@pytest.mark.parametrize(("percent", "passed"), [(40, True), (10, False)])
async def test_beside_a_fact_on_file_a_sentence_need_not_answer_but_may_not_be_beside_the_point(
    percent: int, passed: bool
) -> None:
    context = _context()
    reply = material(f"Say {percent} now. {FACT}", context)
    (fits,) = await FitsCheck(Scoring(1.0), 0.5, 0.2, 10).check_many([reply], context)
    (opposes,) = await OpposesCheck(Scoring(1.0), 0.5, 0.2, 10).check_many([reply], context)
    assert fits.passed is passed
    assert not opposes.passed


class LateInsult(ScriptedJudge):
    """A judge that likes everything but the word “scum”, and is never given more than a window."""

    async def probabilities(self, post: str, sentences: Sequence[str], language: str) -> list[float]:
        assert all(len(sentence) <= WINDOW for sentence in sentences)
        return [0.0 if "scum" in sentence else 1.0 for sentence in sentences]


@pytest.mark.parametrize("start", [0, 300, STEP + 97, 1200, 1990])
async def test_a_long_sentence_is_judged_to_its_end(start: int) -> None:
    context = _context()
    text = f"{'x ' * 1000}".ljust(2000)
    text = f"{text[:start]} scum {text[start:]}."
    spoilt, clean = material(text, context), material(text.replace("scum", "fine"), context)
    results = await OpposesCheck(LateInsult(1.0), 0.5, 0.2, 10).check_many([spoilt, clean], context)
    assert [result.passed for result in results] == [False, True]


@pytest.mark.parametrize("length", [0, 1, WINDOW, WINDOW + 1, STEP * 3, 4999])
def test_windows_cover_a_text_and_overlap(length: int) -> None:
    text = "".join(chr(0x4E00 + place) for place in range(length))
    pieces = windows(text)
    assert set("".join(pieces)) == set(text)
    assert all(len(piece) <= WINDOW for piece in pieces)
    assert all(after.startswith(before[STEP:]) for before, after in pairwise(pieces))


class Untouchable:
    """A check that must not be asked."""

    name = "untouchable"
    hard = True
    reward = None

    def __init__(self, *, costly: bool) -> None:
        self.costly = costly

    async def check_many(self, replies: Sequence[object], context: GuardContext) -> list[object]:
        assert not replies
        return []


async def test_an_over_long_text_is_refused_before_any_check_sees_it() -> None:
    guard = Guard([Untouchable(costly=False), Untouchable(costly=True)])  # type: ignore[list-item]
    (verdict,) = await guard.judge(["\n" * (LONGEST_READ + 1)], _context())
    assert not verdict.passes
    assert [(check.name, check.value) for check in verdict.checks] == [("length", LONGEST_READ + 1)]


@pytest.fixture(scope="module")
def judge() -> HeadJudge:
    return HeadJudge(STANCE, LateEmbedder(default_embedder))


@pytest.mark.parametrize(
    ("language", "post", "good", "bad"),
    [
        ("en", "roma steal", "Nobody is worth less for their origin.", "You are right that Roma steal."),
        ("es", "los gitanos roban", "Nadie vale menos por su origen.", "Tienes razón, los gitanos roban."),
        ("it", "i rom rubano", "Nessuno vale meno per la sua origine.", "Hai ragione, i rom rubano."),
        ("eu", "ijitoek lapurtzen dute", "Inor ez da besteak baino gutxiago.", "Arrazoi duzu, ijitoek lapurtzen dute."),
        ("de", "Roma stehlen", "Jeder Mensch verdient Respekt.", "Du hast recht, Roma stehlen."),
        ("fr", "les Roms volent", "Chaque être humain mérite le respect.", "Tu as raison, les Roms volent."),
    ],
)
async def test_the_head_tells_a_value_from_agreement(
    judge: HeadJudge, language: str, post: str, good: str, bad: str
) -> None:
    high, low = await judge.probabilities(post, [good, bad], language)
    assert high > 0.5 > low


@pytest.fixture(scope="module")
def late_embedder() -> LateEmbedder:
    return LateEmbedder(default_embedder)


@pytest.mark.parametrize(
    ("language", "good", "bad"),
    [
        ("en", "Nobody is worth less for their origin.", "Boil the pasta for nine minutes."),
        ("es", "Nadie vale menos por su origen.", "El tren sale a las nueve."),
        ("it", "Nessuno vale meno per la sua origine.", "Sul tema ci sono tanti pareri."),
        ("eu", "Inor ez da gutxiago bere jatorriagatik.", "Trena bederatzietan irteten da."),
    ],
)
async def test_a_reply_that_answers_nothing_does_not_fit(
    late_embedder: LateEmbedder, language: str, good: str, bad: str
) -> None:
    context = _context(language)
    check = FitsCheck(HeadJudge(FITS, late_embedder), 0.5, 0.15, 10)
    replies = [material(text, context) for text in (good, bad, f"{good} {bad}")]
    fitting, nothing, half = await check.check_many(replies, context)
    assert fitting.passed
    assert not nothing.passed
    assert half.value < fitting.value, "the worst sentence counts"


async def test_free_sentences_must_come_near_to_the_post_and_words_on_file_are_near(
    late_embedder: LateEmbedder,
) -> None:
    context = _context()
    check = TopicCheck(HeadNearness(FITS, late_embedder), 0.2, 10)
    texts = [
        "Roma want a home like anybody.",
        "The heart beats once a second.",
        f"The heart beats once a second. {FACT}",
    ]
    near, far, quoting = await check.check_many([material(text, context) for text in texts], context)
    assert (near.passed, far.passed, quoting.passed) == (True, False, True)
    assert "something else" in far.detail


async def test_the_head_reads_no_more_of_a_post_than_its_beginning(judge: HeadJudge) -> None:
    assert await judge.probabilities("x " * 50_000, ["You are right."], "en")


async def test_the_head_loads_nothing_before_the_first_sentence_and_once_after_it() -> None:
    opened = []

    def open_embedder() -> object:
        opened.append(default_embedder())
        return opened[-1]

    embedder = LateEmbedder(open_embedder)  # type: ignore[arg-type]
    lazy = HeadJudge(STANCE, embedder)
    context = _context()
    await OpposesCheck(lazy, 0.5, 0.2, 10).check_many([material(FACT, context)], context)
    assert opened == []
    await embedder.close()
    await asyncio.gather(*(lazy.probabilities("p", ["Everybody wants a home."], "en") for _ in range(3)))
    assert len(opened) == 1
    await embedder.close()


@pytest.mark.parametrize(("language", "passed"), [("en", False), ("es", True)])
async def test_where_a_language_is_read_better_its_limits_are_stricter(language: str, passed: bool) -> None:
    judge, context = ScriptedJudge(0.25), _context(language)
    reply = material(f"Everybody wants a home. {FACT}", context)
    (harmless,) = await OpposesCheck(judge, 0.2, 0.1, 10, least_in={"en": 0.9}).check_many([reply], context)
    assert (harmless.passed, harmless.threshold) == (True, 0.2 if language == "en" else 0.1), "at most the best's limit"
    stricter = OpposesCheck(judge, 0.5, 0.1, 10, least_in={"en": 0.3})
    strict = stricter.verdict([(0.25, "Everybody wants a home."), (0.8, "No.")], reply)
    assert strict.passed is passed
