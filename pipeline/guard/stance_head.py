"""Tell how likely a sentence opposes a post and harms nobody: a linear head on both embeddings and on cues.

Trained by `rejoinder train stances`; figures and limits in `pipeline/data/stance.md`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from core.errors import BadSettings, WeightsError
from pipeline.guard import cues
from pipeline.guard.lexicon import words_pattern
from pipeline.guard.words import fold
from pipeline.sentences import is_question

if TYPE_CHECKING:
    from models.embed import Embedder

Vectors = NDArray[np.float32]

FILE = "stance.npz"
LANGUAGES = frozenset({"en", "es", "it", "eu"})
"""Languages that the head was trained on."""
SCALES = (3.0, 1.0, 30.0, 3.0)
"""What the sentence, the post, their product and their cosine count beside a cue, before regularisation."""
LONGEST_READ = 500
"""Characters of the post and of a sentence that are read, which bounds the time."""


@dataclass(frozen=True)
class StanceHead:
    """A logistic regression: `weights` has shape (3 d + 1 + cues,), `mean` (d,); it fits one embedder, by its name."""

    mean: Vectors
    weights: Vectors
    bias: float
    embedder: str

    @classmethod
    def load(cls) -> Self:
        """Load the shipped head; raises WeightsError for a file that is missing or torn."""
        path = resources.files("pipeline").joinpath("data", FILE)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
                arrays = (data["mean"].astype(np.float32), data["weights"].astype(np.float32))
                return cls(*arrays, float(data["bias"]), str(data["embedder"]))
        except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise WeightsError(
                f"The stance head can't be read from {path} ({error}): install Rejoinder again."
            ) from error

    def probabilities(self, vectors: Vectors, post_vector: Vectors, cue_rows: Vectors) -> NDArray[np.float64]:
        """Return a probability, 0 to 1, for each sentence; shapes (n, d), (d,) and (n, cues)."""
        posts = np.broadcast_to(post_vector, vectors.shape)
        logits = features(vectors, posts, cue_rows, self.mean) @ self.weights + self.bias
        return np.asarray(1 / (1 + np.exp(-np.clip(logits, -30, 30))), np.float64)


def features(vectors: Vectors, posts: Vectors, cue_rows: Vectors, mean: Vectors) -> Vectors:
    """Return what the head is linear in, shape (n, 3 d + 1 + cues), for sentences and the posts beside them."""
    own, post = _unit(vectors - mean), _unit(posts - mean)
    both = own * post
    views = (own, post, both, both.sum(axis=1, keepdims=True))
    scaled = [scale * view for scale, view in zip(SCALES, views, strict=True)]
    return np.hstack([*scaled, cue_rows]).astype(np.float32)


def cue_row(post: str, sentence: str, language: str) -> list[float]:
    """Return the cues of a sentence, each 0 or 1: how it refutes, grants, asks, addresses and sets against."""
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


class HeadOpposition:
    """An Opposition by the stance head, on the vectors of the default embedder.

    Raises BadSettings for an embedder that the head was not trained with.
    """

    name = "head"
    languages = LANGUAGES

    def __init__(self, embedder: Embedder, head: StanceHead) -> None:
        if embedder.name != head.embedder:
            raise BadSettings(
                f"guard.judge is `head`, which reads vectors of {head.embedder}, not of {embedder.name}. "
                "Set guard.judge to `chat` or `none`, or embedding.kind to `e5`."
            )
        self._embedder = embedder
        self._head = head

    async def probabilities(self, post: str, sentences: Sequence[str], language: str) -> list[float]:
        """Return for each sentence how probably it opposes the post and harms nobody, 0 to 1."""
        post = post[:LONGEST_READ]
        read = [sentence[:LONGEST_READ] for sentence in sentences]
        vectors = await self._embedder.queries([post, *read])
        rows = np.array([cue_row(post, sentence, language) for sentence in read], np.float32)
        return [float(p) for p in self._head.probabilities(vectors[1:], vectors[0], rows)]
