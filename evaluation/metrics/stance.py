"""Stance (FH): whether a draft opposes the post."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from evaluation.metrics.embeddings import Embeddings
from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.records import Sample
from pipeline.guard.sentence_head import LANGUAGES, LONGEST_READ, SentenceHead, cue_row
from pipeline.sentences import split


class Stance(Metric):
    """The probability that a draft opposes the post and harms nobody, by the guard's stance head."""

    card = MetricCard(
        name="stance",
        label="FH",
        source="F2RL's FH and CoARL's PC ask a trained stance model; here the guard's head (pipeline/data/stance.md)",
        formula="mean over sentences s of P(s opposes the post and harms nobody)",
        lowest=0,
        highest=1,
        higher_is_better=True,
        blind_spot="A small head on e5 vectors. It reads each sentence by itself, and it saw words on file and "
        "CrowdCounter's replies in training, which favours `compose`. Where the guard judged by it, drafts that passed "
        "have high values.",
        by="the guard's stance head",
    )

    def __init__(self, embeddings: Embeddings, head: SentenceHead) -> None:
        """Take the embedder that the head was trained with, and the head."""
        self._embeddings, self._head = embeddings, head

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the probability for each draft in a language that the head supports."""
        return [await self._score(sample) for sample in samples]

    async def _score(self, sample: Sample) -> Value:
        sentences = split(sample.text, sample.language) if sample.language in LANGUAGES else ()
        if not sentences:
            return None
        post = sample.post[:LONGEST_READ]
        vectors = await self._embeddings.of([post, *sentences])
        cues = np.array([cue_row(post, sentence, sample.language) for sentence in sentences], np.float32)
        return fmean(self._head.probabilities(vectors[1:], vectors[0], cues).tolist())
