"""Every metric on an example that is small enough to compute by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from core.domain import TargetGroup
from core.settings import Settings
from evaluation.metrics.argument_quality import ArgumentQuality, QualityHead
from evaluation.metrics.bertscore import BertScore, f1
from evaluation.metrics.bleu import Bleu
from evaluation.metrics.chrf import ChrF
from evaluation.metrics.coarl import CoarlReward
from evaluation.metrics.counterspeech import Counterspeech
from evaluation.metrics.distinct import Distinct
from evaluation.metrics.diversity import Diversity
from evaluation.metrics.embeddings import Embeddings
from evaluation.metrics.factuality import Factuality, Support
from evaluation.metrics.faithfulness import FaithfulnessToClaim, FaithfulnessToEvidence
from evaluation.metrics.length import Length, Truncated
from evaluation.metrics.meteor import Meteor
from evaluation.metrics.metric import Metric, Value
from evaluation.metrics.novelty import NoveltyOfEarlier, NoveltyOfReferences
from evaluation.metrics.repetition import RepetitionRate
from evaluation.metrics.rouge import RougeL
from evaluation.metrics.safety import Safety
from evaluation.metrics.stance import Stance
from evaluation.metrics.toolbox import NO_ENTAILMENT, open_metrics
from evaluation.metrics.triplets import ClauseTriplets
from models.embedders import default_embedder
from models.entailment import Pair
from pipeline.guard.sentence_head import SCALES, STANCE, SentenceHead
from pipeline.heads import Heads
from pipeline.network import Network
from tests.evaluation.runs import make_sample
from tests.factories import make_evidence


class FlatEmbedder:
    """An Embedder of two numbers: each text lies in a direction that the test sets."""

    name, dimension = "flat", 2

    def __init__(self, **degrees: float) -> None:
        self._degrees = degrees

    async def queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        angles = np.radians([self._degrees[text.split()[0].lower()] for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    passages = queries

    async def close(self) -> None:
        pass


class Insults:
    """A Toxicity that is sure of one word."""

    languages = frozenset({"en"})

    def score(self, text: str) -> float:
        return 0.75 if "fool" in text else 0.25


async def value(metric: Metric, text: str, *references: str, language: str = "en") -> Value:
    return (await metric.score([make_sample(text, references=references, language=language)]))[0]


def total(metric: Metric, *texts: str) -> Value:
    return metric.of_system([make_sample(text) for text in texts], [None] * len(texts))


async def test_bleu() -> None:
    # p1 = 4/5, p2 = 3/4, p3 = 2/3, p4 = 1/2, no brevity penalty.
    assert await value(Bleu(), "a b c d e", "a b c d f") == pytest.approx((4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4))


def test_bleu_of_a_system_counts_n_grams_of_all_drafts_together() -> None:
    samples = [
        make_sample("a b c d e", references=["a b c d f"]),
        make_sample("g h i j k", references=["g h i j k", "other words"]),
    ]
    # 9 of 10, 7 of 8, 5 of 6, 3 of 4.
    assert Bleu().of_system(samples, []) == pytest.approx((9 / 10 * 7 / 8 * 5 / 6 * 3 / 4) ** (1 / 4))


async def test_chrf() -> None:
    # Characters 2 of 3, pairs 1 of 2, triples 0 of 1, both ways.
    assert await value(ChrF(), "abc", "abd") == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)


async def test_rouge_l() -> None:
    # The longest common subsequence is "a c d": P = 3/4, R = 3/5.
    assert await value(RougeL(), "a b c d", "x", "a c d e f") == pytest.approx(2 * 0.75 * 0.6 / (0.75 + 0.6))


async def test_rouge_l_reads_letters_beyond_ascii() -> None:
    assert await value(RougeL(), "España avanza", "España retrocede") == pytest.approx(0.5)


async def test_meteor_by_stems() -> None:
    # Both words match by stem, in one chunk: the penalty is 0.5 * (1/2)³.
    metric = Meteor(wordnet=None)
    assert await value(metric, "casas grandes", "casa grande", language="es") == pytest.approx(1 - 0.5 / 8)
    assert await value(metric, "big houses", "big house", language="en") is None


def test_bertscore() -> None:
    draft = np.array([[1, 0], [0, 1]], np.float32)
    reference = np.array([[1, 0]], np.float32)
    # P = (1 + 0) / 2, R = 1.
    assert f1(draft, reference) == pytest.approx(2 * 0.5 / 1.5)


async def test_bertscore_of_the_embedded_encoder_knows_a_text_from_another() -> None:
    from models.e5_onnx import OnnxE5Embedder

    embedder = default_embedder()
    assert isinstance(embedder, OnnxE5Embedder)
    metric = BertScore(embedder.token_vectors, embedder.name)
    same = await value(metric, "The harbour is open.", "The harbour is open.")
    other = await value(metric, "The harbour is open.", "Seven goats danced at noon.")
    assert same == pytest.approx(1, abs=1e-3)
    assert other is not None and other < 0.8  # higher where the prefix that e5 is given is matched with itself
    await embedder.close()


def test_distinct() -> None:
    assert total(Distinct(1), "a b a", "b c") == pytest.approx(3 / 5)
    assert total(Distinct(2), "a b a", "b c") == pytest.approx(3 / 3)


def test_repetition_rate() -> None:
    # Different ones: 4 each; more than once: 4, 3, 2, 1.
    assert total(RepetitionRate(), "a b c d", "a b c d") == pytest.approx((4 / 4 * 3 / 4 * 2 / 4 * 1 / 4) ** (1 / 4))


def test_repetition_is_counted_within_a_window() -> None:
    assert total(RepetitionRate(window=4), "a b c d", "a b c d") == 0


async def test_novelty() -> None:
    # Two of four words are shared with the nearest reference.
    assert await value(NoveltyOfReferences(), "a b c", "x y", "b c d") == pytest.approx(0.5)
    # The second draft has one of its two triples from the first.
    assert total(NoveltyOfEarlier(), "a b c d", "a b c e") == pytest.approx((1 + 1 / 2) / 2)


def test_diversity() -> None:
    # Overlaps with the nearest: 1/3, 1/3, 0.
    assert total(Diversity(), "a b", "b c", "x y") == pytest.approx(1 - (1 / 3 + 1 / 3 + 0) / 3)


def test_diversity_of_many_drafts_is_that_of_a_sample() -> None:
    texts = [f"word{number}" for number in range(30)]
    assert total(Diversity(seed=1, most=10), *texts) == 1
    assert total(Diversity(seed=1, most=10), *texts) == total(Diversity(seed=1, most=10), *texts)


async def test_length_and_truncation() -> None:
    assert await value(Length(), "Three words, really.") == 3
    assert await value(Truncated(), "It breaks off in the") == 1
    assert await value(Truncated(), "It is whole.") == 0


async def test_safety() -> None:
    assert await value(Safety(Insults(), "a test"), "You fool.") == 0.25


async def test_faithfulness_to_claim_and_evidence() -> None:
    sample = make_sample("Reply.").model_copy(
        update={"counter_claim": "claim", "evidence": (make_evidence("e1", "near"), make_evidence("e2", "far"))}
    )
    embeddings = Embeddings(FlatEmbedder(**{"reply.": 0, "claim": 60, "near": 0, "far": 90}))
    assert (await FaithfulnessToClaim(embeddings).score([sample]))[0] == pytest.approx(0.5)
    assert (await FaithfulnessToEvidence(embeddings).score([sample]))[0] == pytest.approx((1 + 0) / 2, abs=1e-6)


async def test_factuality() -> None:
    told = {("One.", "Sailors pay taxes"): 0.8, ("One.", "Sailors build harbours"): 0.0,
            ("Two.", "Sailors pay taxes"): 0.2, ("Two.", "Sailors build harbours"): 0.4}  # fmt: skip

    class Told:
        languages = None
        asked = 0

        async def follows(self, pairs: Sequence[Pair]) -> list[float]:
            self.asked += len(pairs)
            return [told[pair.premise, pair.hypothesis] for pair in pairs]

    sample = make_sample("Sailors pay taxes and build harbours. What do you do?").model_copy(
        update={"evidence": (make_evidence("e1", "One."), make_evidence("e2", "Two."))}
    )
    entailment = Told()
    support = Support(ClauseTriplets(), entailment, "a test")
    assert await Factuality(support).score([sample]) == [pytest.approx((0.8 + 0.0 + 0.2 + 0.4) / 4)]
    assert await Factuality(support, best=True).score([sample]) == [pytest.approx((0.8 + 0.4) / 2)]
    assert entailment.asked == 4  # once for both


async def test_a_draft_that_states_nothing_has_no_factuality() -> None:
    class Never:
        languages = None

        async def follows(self, pairs: Sequence[Pair]) -> list[float]:
            return [1.0 for _ in pairs]

    sample = make_sample("What do you do?").model_copy(update={"evidence": (make_evidence("e1", "One."),)})
    assert await Factuality(Support(ClauseTriplets(), Never(), "a test")).score([sample]) == [None]


async def test_argument_quality() -> None:
    head = QualityHead(weights=np.array([0.5, 2.0], np.float32), bias=0.1, embedder="flat")
    metric = ArgumentQuality(Embeddings(FlatEmbedder(east=0, north=90)), head)
    assert await value(metric, "east") == pytest.approx(0.5 + 0.1)
    assert await value(metric, "north") == 1  # 2.1, cut at the end of the scale


def opposing_head() -> SentenceHead:
    """Return a head that looks at the cosine of sentence and post alone, in the flat embedder's two numbers."""
    hidden = np.zeros((3 * 2 + 1 + 10, 2), np.float32)
    hidden[6] = (-1 / SCALES[3], 1 / SCALES[3])
    network = Network(hidden, bias=np.zeros(2, np.float32), out=np.array([[1], [-1]], np.float32))
    return SentenceHead(np.zeros(2, np.float32), network, bias=0.0)


async def test_stance() -> None:
    embedder = FlatEmbedder(zorblaxians=0, sideways=90, against=180)
    metric = Stance(Embeddings(embedder), opposing_head())
    # The cosines with the post are 0 and -1: the mean of 1 / (1 + e⁰) and 1 / (1 + e⁻¹).
    expected = (1 / 2 + 1 / (1 + np.exp(-1))) / 2
    assert await value(metric, "Sideways is one. Against is the other.") == pytest.approx(expected)
    assert await value(metric, "Sideways is one.", language="pt") is None


async def test_coarl_reward() -> None:
    head = QualityHead(weights=np.array([0.5, 0.0], np.float32), bias=0.1, embedder="flat")
    embeddings = Embeddings(FlatEmbedder(zorblaxians=0, straight=0))
    parts = (Stance(embeddings, opposing_head()), ArgumentQuality(embeddings, head), Safety(Insults(), "a test"))
    stance = 1 / (1 + np.exp(1))
    assert await value(CoarlReward(*parts), "Straight it is.") == pytest.approx((stance + 0.6 + 0.75) / 3)


async def test_stance_tells_contradiction_from_agreement() -> None:
    embedder = default_embedder()
    metric = Stance(Embeddings(embedder), SentenceHead.load(STANCE))
    against = await value(metric, "That is not true: everyone has equal rights.")
    along = await value(metric, "You are right, they do.")
    assert against is not None and along is not None and against > 0.7 > 0.3 > along
    await embedder.close()


async def test_counterspeech_tells_a_reply_from_hate() -> None:
    embedder = default_embedder()
    metric = Counterspeech(Embeddings(embedder), Heads.load())
    reply = await value(metric, "That is unfair. Everyone deserves respect, wherever they come from.")
    hate = await value(metric, "They are vermin and should all be thrown out.")
    assert reply is not None and hate is not None and reply > 0.5 > hate
    await embedder.close()


async def test_an_empty_draft_has_no_value_and_breaks_nothing() -> None:
    toolbox = open_metrics(Settings())
    samples = [make_sample("", references=["Something."]), make_sample("A reply.", references=["Something."])]
    for metric in toolbox.metrics:
        values = await metric.score(samples)
        assert values[0] is None, metric.card.name
        metric.of_system([samples[0]], values[:1])
    assert NO_ENTAILMENT in toolbox.missing


async def test_values_lie_within_the_range_that_the_card_gives() -> None:
    toolbox = open_metrics(Settings())
    sample = make_sample("Nadie vale menos. Es así.", references=["Nadie vale menos."], language="es").model_copy(
        update={"counter_claim": "All are equal.", "evidence": (make_evidence(),), "groups": (TargetGroup.OTHER,)}
    )
    for metric in toolbox.metrics:
        values = await metric.score([sample, sample])
        whole = metric.of_system([sample, sample], values)
        assert whole is not None, metric.card.name
        for measured in (whole, *(entry for entry in values if entry is not None)):
            assert metric.card.lowest - 1e-6 <= measured <= (metric.card.highest or measured) + 1e-6, metric.card.name
