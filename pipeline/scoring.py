"""Score a post on all that triage asks of it: heads, then the embedder's layers for posts, then a larger model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from core.domain import TargetGroup
from models.e5 import Reading
from models.embed import Vectors
from pipeline.heads import Heads, Scores
from pipeline.post_reader import PostReader
from pipeline.second_opinion import THREAT, SecondOpinion
from pipeline.self_harm import SelfHarmHead
from pipeline.threats import ThreatHead

LONGEST_READ = 1200
"""Characters that are embedded; the topic of a post shows long before."""
NOTHING = Scores(dict.fromkeys(TargetGroup, 0.0), 0.0, 0.0)
"""The scores of a post without text, about which the heads could only guess."""


@dataclass(frozen=True)
class PostScores:
    """What all of them say of a post together: its scores, and how likely it is a threat or hints at self-harm.

    `summed` and `reread` are the readings of the layers for posts and of the larger model, for further questions.
    """

    scores: Scores
    threat: float
    summed: Vectors | None = None
    reread: Vectors | None = None
    self_harm: float = 0.0


class PostScorer:
    """The heads of triage, and what counts beside them. Safe for many tasks of one event loop."""

    def __init__(self, post_reader: PostReader | None = None) -> None:
        self._heads, self._threats, self._layers = Heads.load(), ThreatHead.load(), SecondOpinion.load()
        self._self_harm = SelfHarmHead.load()
        self._post_reader = post_reader
        self.layers = self._layers.layers
        """The name of the layers that readings `summed` are from."""
        self.reread_by = post_reader.opinion.layers if post_reader else ""
        """The same for readings `reread`."""

    @property
    def embedder(self) -> str:
        """Return the name of the embedder whose vectors are read."""
        return self._heads.embedder

    async def score(self, raw: str, text: str, reading: Reading, language: str) -> PostScores:
        """Score a post: as it was written, normalised, and as the embedder read its first LONGEST_READ characters."""
        short = text[:LONGEST_READ]
        scores = self._heads.score(reading.vector, short, reading.tokens) if text else NOTHING
        # A post without text leaves nothing to form a second opinion on.
        summed = reading.summed if text else None
        if summed is not None:
            scores = scores.beside(self._layers, summed)
        threat = await asyncio.to_thread(self._threat, raw, reading.vector, summed)
        self_harm = self._self_harm.score(reading.vector) if text else 0.0
        first = PostScores(scores, threat, summed, self_harm=self_harm)
        return first if self._post_reader is None else await _read_again(self._post_reader, text, first, language)

    def _threat(self, raw: str, vector: Vectors, summed: Vectors | None) -> float:
        """Return how likely the text is a threat, by the heads and the layers for posts."""
        threat = self._threats.score(raw, vector)
        return threat if summed is None else self._layers.beside({THREAT: threat}, summed)[THREAT]


async def _read_again(reader: PostReader, text: str, first: PostScores, language: str) -> PostScores:
    """Return the scores with the larger model's opinion; of a post that it can't read at once, only on threats."""
    reading = await reader.read(text, first.scores.hate, first.threat, language)
    if reading is None:
        return first
    whole = reading.whole
    scores = first.scores if whole is None else first.scores.beside(reader.opinion, whole)
    return PostScores(scores, reader.threat(first.threat, reading), first.summed, whole, first.self_harm)
