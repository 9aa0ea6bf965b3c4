"""Open every metric with the models that the settings name, and report which are not available and why."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import BadInput
from core.settings import GuardSettings, Settings
from evaluation.metrics.argument_quality import ArgumentQuality, QualityHead
from evaluation.metrics.bertscore import E5_CAUTION, BertScore
from evaluation.metrics.bleu import Bleu
from evaluation.metrics.chrf import ChrF
from evaluation.metrics.coarl import CoarlReward
from evaluation.metrics.counterspeech import Counterspeech
from evaluation.metrics.distinct import Distinct
from evaluation.metrics.diversity import Diversity
from evaluation.metrics.embeddings import Embeddings
from evaluation.metrics.encoder import Encoder
from evaluation.metrics.factuality import Factuality, Support
from evaluation.metrics.faithfulness import FaithfulnessToClaim, FaithfulnessToEvidence
from evaluation.metrics.length import Length, Truncated
from evaluation.metrics.meteor import Meteor
from evaluation.metrics.metric import Metric
from evaluation.metrics.novelty import NoveltyOfEarlier, NoveltyOfReferences
from evaluation.metrics.repetition import RepetitionRate
from evaluation.metrics.rouge import RougeL
from evaluation.metrics.safety import Safety
from evaluation.metrics.stance import Stance
from evaluation.metrics.wordnet import find_wordnet
from models.embedders import default_embedder
from models.toxicity import Toxicity, ToxicityHead
from pipeline.guard.sentence_head import STANCE, SentenceHead
from pipeline.heads import Heads

NO_WORDNET = (
    "METEOR is missing for English drafts: it needs WordNet. Fetch it with `python -m nltk.downloader wordnet`, "
    "install Debian's wordnet-base and wordnet-sense-index, or give its folder with --wordnet."
)
NO_ENTAILMENT = (
    "FA is missing: it needs a judge of entailment. Name a chat model's server or an ONNX model's folder with "
    "--entailment."
)
NO_TOKENS = "BERTScore is missing: the engine that runs here hands out no token states. Install onnxruntime."


@dataclass
class Toolbox:
    """The available metrics, and a sentence for each one that is missing, wholly or for some drafts."""

    metrics: list[Metric] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def open_metrics(
    settings: Settings,
    *,
    only: Collection[str] = (),
    wordnet: Path | None = None,
    support: Support | None = None,
    encoder: Encoder | None = None,
    seed: int = 0,
) -> Toolbox:
    """Return all metrics, or `only` those named.

    FA needs `support`; BERTScore uses the embedded e5 unless an encoder is given. Raises BadInput for an unknown name,
    and whatever DetoxifyModel raises where the settings choose it.
    """
    # The heads fit the default embedder's vectors, and figures must not change with the embedder chosen for the search.
    embedder = default_embedder()
    synonyms = find_wordnet(wordnet)
    toolbox = Toolbox(_always_there(settings.guard, Embeddings(embedder), Meteor(synonyms), seed))
    if synonyms is None:
        toolbox.missing.append(NO_WORDNET)
    token_vectors = getattr(embedder, "token_vectors", None)
    if encoder is not None:
        toolbox.metrics.append(BertScore(encoder.token_vectors, encoder.name))
    elif token_vectors is not None:
        toolbox.metrics.append(BertScore(token_vectors, embedder.name, E5_CAUTION))
    else:
        toolbox.missing.append(NO_TOKENS)
    if support is None:
        toolbox.missing.append(NO_ENTAILMENT)
    else:
        toolbox.metrics += [Factuality(support, best=best) for best in (False, True)]
    _keep_only(toolbox, only)
    return toolbox


def _always_there(guard: GuardSettings, embeddings: Embeddings, meteor: Meteor, seed: int) -> list[Metric]:
    """Return the metrics that need no optional models, in the order of reports."""
    toxicity, judge = _toxicity(guard)
    stance, safety = Stance(embeddings, SentenceHead.load(STANCE)), Safety(toxicity, judge)
    quality = ArgumentQuality(embeddings, QualityHead.load())
    return [
        Bleu(), ChrF(), RougeL(), meteor, Distinct(1), Distinct(2), RepetitionRate(), NoveltyOfReferences(),
        NoveltyOfEarlier(), Diversity(seed), Length(), Truncated(), safety, Counterspeech(embeddings, Heads.load()),
        stance, FaithfulnessToClaim(embeddings), FaithfulnessToEvidence(embeddings), quality,
        CoarlReward(stance, quality, safety),
    ]  # fmt: skip


def _keep_only(toolbox: Toolbox, only: Collection[str]) -> None:
    known = [metric.card.name for metric in toolbox.metrics]
    unknown = [name for name in only if name not in known]
    if unknown:
        raise BadInput(f"There is no metric {', '.join(unknown)} here; there are {', '.join(known)}.")
    if only:
        toolbox.metrics = [metric for metric in toolbox.metrics if metric.card.name in only]


def _toxicity(settings: GuardSettings) -> tuple[Toxicity, str]:
    if settings.toxicity == "head":
        return ToxicityHead.load(), "the shipped toxicity head"
    from models.detoxify_model import DetoxifyModel

    model = DetoxifyModel(settings.detoxify_model, settings.detoxify_checkpoint, settings.detoxify_config)
    return model, f"Detoxify {settings.detoxify_model}"
