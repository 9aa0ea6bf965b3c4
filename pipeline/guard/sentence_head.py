"""Judge a sentence beside a post, with small networks over both embeddings and over cues.

One network tells whether the sentence opposes the post and harms nobody (`rejoinder train stances`), the other whether
it answers anything at all (`rejoinder train fits`). Figures and limits are in `pipeline/data/stance.md` and `fits.md`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from models.arrays import open_arrays
from pipeline.guard import cues
from pipeline.guard.lexicon import words_pattern
from pipeline.guard.words import fold
from pipeline.network import Network
from pipeline.sentences import is_question

if TYPE_CHECKING:
    from models.e5 import E5Embedder

Vectors = NDArray[np.float32]

STANCE, FITS = "stance.npz", "fits.npz"
"""Files of the heads, in `pipeline/data`."""
NETWORK_PARTS = ("hidden", "hidden_bias", "out")
"""Arrays of the network in such a file."""
LANGUAGES = frozenset({"en", "es", "it", "eu", "de", "fr"})
"""Languages that the heads read: trained on the first four; on German and French they were only measured."""
SCALES = (10.0, 7.0, 60.0, 3.0)
"""Factors on the sentence's vector, the post's, their product and their cosine, next to cues of 0 or 1."""
LONGEST_READ = 500
"""Characters of the post that are read, to bound the time; pieces of a sentence are no longer than that."""


@dataclass(frozen=True)
class SentenceHead:
    """A network with one hidden layer over `features`; `mean`, shape (d,), is subtracted from the embeddings."""

    mean: Vectors
    network: Network
    bias: float

    @classmethod
    def load(cls, name: str) -> Self:
        """Load a shipped head by its file's name; raises WeightsError for a file that is missing or damaged."""
        path = resources.files("pipeline").joinpath("data", name)
        with open_arrays(path, f"The head {name}") as data:
            network = Network(*(data[part].astype(np.float32) for part in NETWORK_PARTS))
            return cls(data["mean"].astype(np.float32), network, float(data["bias"]))

    def probabilities(self, vectors: Vectors, post_vector: Vectors, cue_rows: Vectors) -> NDArray[np.float64]:
        """Return a probability, 0 to 1, for each sentence; shapes (n, d), (d,) and (n, cues)."""
        posts = np.broadcast_to(post_vector, vectors.shape)
        logits = self.network.logits(features(vectors, posts, cue_rows, self.mean))[:, 0] + self.bias
        return np.asarray(1 / (1 + np.exp(-np.clip(logits, -30, 30))), np.float64)


def features(vectors: Vectors, posts: Vectors, cue_rows: Vectors, mean: Vectors) -> Vectors:
    """Return what the head reads, shape (n, 3 d + 1 + cues), for n sentences and the post of each."""
    own, post = _unit(vectors - mean), _unit(posts - mean)
    both = own * post
    views = (own, post, both, both.sum(axis=1, keepdims=True))
    scaled = [scale * view for scale, view in zip(SCALES, views, strict=True)]
    return np.hstack([*scaled, cue_rows]).astype(np.float32)


def cue_row(post: str, sentence: str, language: str) -> list[float]:
    """Return cues, each 0 or 1: how the sentence refutes, agrees, asks and so on; last, whether the post negates."""
    text = fold(sentence[:LONGEST_READ])
    return [
        float(cue)
        for cue in (
            bool(cues.refutations(text, language)),
            any(True for _ in cues.agreements(text, language)),
            is_question(sentence),
            cues.negated(text, language),
            cues.pattern(language, "affirms").search(text) is not None,
            cues.word_pattern(language, "hostile").search(text) is not None,
            words_pattern("you", language).search(text) is not None,
            words_pattern("but", language).search(text) is not None,
            cues.pattern(language, "doubt").search(text) is not None,
            cues.negated(fold(post[:LONGEST_READ]), language),
        )
    ]


def _unit(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9), np.float32)


class LateEmbedder:
    """The heads' embedder, always multilingual-e5-small, which is opened with the first texts.

    A worker that only composes never opens it.
    """

    def __init__(self, open_embedder: Callable[[], E5Embedder]) -> None:
        self._open_embedder = open_embedder
        self._opened: E5Embedder | None = None
        self._turn = asyncio.Lock()

    async def queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; raises WeightsError if the embedder's weights are missing or damaged."""
        return await (await self._embedder()).queries(texts)

    async def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Return the log odds of each question for each pair, as E5Embedder does; raises as `queries` does."""
        return await (await self._embedder()).read_pairs(pairs)

    async def _embedder(self) -> E5Embedder:
        async with self._turn:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self._open_embedder)
        return self._opened

    async def close(self) -> None:
        """Free the embedder, where one was opened."""
        if self._opened is not None:
            await self._opened.close()


class HeadJudge:
    """A SentenceJudge that asks one of the shipped heads; nothing is loaded before the first sentence."""

    name = "head"
    languages = LANGUAGES

    def __init__(self, file: str, embedder: LateEmbedder) -> None:
        self._file = file
        self._embedder = embedder

    async def probabilities(self, post: str, sentences: Sequence[str], language: str) -> list[float]:
        """Return the head's probability for each sentence, 0 to 1.

        Raises WeightsError if the head or its embedder's weights are missing or damaged.
        """
        head = await asyncio.to_thread(_loaded, self._file)
        post = post[:LONGEST_READ]
        vectors = await self._embedder.queries([post, *sentences])
        rows = np.array([cue_row(post, sentence, language) for sentence in sentences], np.float32)
        return [float(p) for p in head.probabilities(vectors[1:], vectors[0], rows)]


class HeadNearness:
    """A measure of how near texts are in topic, by their embeddings relative to the mean of a head."""

    languages = LANGUAGES

    def __init__(self, file: str, embedder: LateEmbedder) -> None:
        self._file = file
        self._embedder = embedder

    async def nearest(self, texts: Sequence[str], others: Sequence[str]) -> list[float]:
        """Return for each text its cosine with the nearest of the others, 0 to 1; raises as HeadJudge does."""
        head = await asyncio.to_thread(_loaded, self._file)
        vectors = await self._embedder.queries([*texts, *(other[:LONGEST_READ] for other in others)])
        centred = _unit(vectors - head.mean)
        cosines = centred[: len(texts)] @ centred[len(texts) :].T
        return [max(0.0, float(row.max())) for row in cosines]


@lru_cache(maxsize=2)
def _loaded(file: str) -> SentenceHead:
    return SentenceHead.load(file)
