"""METEOR: the words that a draft shares with a reference by form, stem or meaning, and how far their order agrees."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import snowballstemmer
from nltk.translate.meteor_score import meteor_score

from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.metrics.tokens import words
from evaluation.records import Sample

STEMMERS = {"es": "spanish", "it": "italian", "eu": "basque"}
"""Languages that are compared by form and stem only, as nltk's WordNet is English."""


class Meteor(Metric):
    """METEOR against the nearest reference, by nltk. Without WordNet, English drafts have no value."""

    card = MetricCard(
        name="meteor",
        label="METEOR",
        source="Banerjee and Lavie 2005, by nltk: Porter stems and WordNet for English; Snowball stems alone for es, "
        "it, eu",
        formula="10PR / (R + 9P) * (1 - 0.5 * (chunks / matches)³); P, R over words matched by form, stem, synonym",
        lowest=0,
        highest=1,
        higher_is_better=True,
        blind_spot="Languages are not comparable: only English has synonyms.",
        by_references=True,
    )

    def __init__(self, wordnet: Any | None) -> None:
        """Take nltk's WordNet, or None if there is none."""
        self._wordnet = wordnet

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the METEOR of each draft whose language can be compared."""
        return [self._score(sample) if sample.text and sample.references else None for sample in samples]

    def _score(self, sample: Sample) -> Value:
        references, text = [words(reference) for reference in sample.references], words(sample.text)
        if sample.language in STEMMERS:
            return float(meteor_score(references, text, stemmer=_stemmer(sample.language), wordnet=_NoSynonyms()))
        if sample.language == "en" and self._wordnet is not None:
            return float(meteor_score(references, text, wordnet=self._wordnet))
        return None


class _NoSynonyms:
    """An empty WordNet: no word has synonyms."""

    def synsets(self, word: str) -> list[Any]:
        return []


class _Stemmer:
    """A Snowball stemmer behind the interface that nltk expects."""

    def __init__(self, language: str) -> None:
        self._stemmer = snowballstemmer.stemmer(STEMMERS[language])

    def stem(self, word: str) -> str:
        return str(self._stemmer.stemWord(word))


@lru_cache
def _stemmer(language: str) -> _Stemmer:
    return _Stemmer(language)
