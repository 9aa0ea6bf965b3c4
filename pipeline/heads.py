"""Score a post: whom it attacks, how hateful it is, whether it is counterspeech itself.

Each head is linear over two views of the post: its query embedding and its surface (`pipeline.ngrams`). As no line
separates hate well, the hate head adds two small networks: one over the embedding and, where the embedder provides
them, one over the states of the post's tokens. The heads are trained by `training.heads`; data, figures and limits are
in `data/group_head.md`, `hate_head.md` and `counterspeech_head.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from core.domain import GroupScore, TargetGroup
from core.errors import BadInput
from models.arrays import open_arrays
from pipeline import ngrams
from pipeline.network import Network
from pipeline.second_opinion import SecondOpinion
from pipeline.token_network import TokenNetwork

HATE, COUNTER = "hate", "counterspeech"
NAMES = (*(group.value for group in TargetGroup), HATE, COUNTER)
"""The heads that triage reads; the file may hold more."""
HATE_IS_HIGH = 0.5
"""Hate probability from which a post "seems to" attack somebody; below it, the post "may"."""
ATTACKS_SOMEBODY = 0.3
"""Hate probability from which the likeliest group is named even if none reaches the threshold."""
TOKEN_PARTS = ("taps", "bias", "out", "shares")
"""Arrays of the network over tokens, as the file names them."""
SURE = 0.5
"""Probability that a group needs where hate is below ATTACKS_SOMEBODY."""


@dataclass(frozen=True)
class Scores:
    """The heads' results, each a probability from 0 to 1."""

    groups: Mapping[TargetGroup, float]
    hate: float
    counter: float

    @classmethod
    def read(cls, names: Sequence[str], probabilities: NDArray[np.float32]) -> Self:
        """Read the probabilities of the heads called `names`."""
        values = dict(zip(names, map(float, probabilities), strict=True))
        return cls({group: values[group.value] for group in TargetGroup}, values[HATE], values[COUNTER])

    def beside(self, opinion: SecondOpinion, reading: NDArray[np.float32]) -> Self:
        """Return the scores joined with a second opinion on a reading of the post, shape (m,)."""
        first = {**{group.value: score for group, score in self.groups.items()}, HATE: self.hate, COUNTER: self.counter}
        joint = opinion.beside(first, reading)
        return replace(
            self, groups={group: joint[group.value] for group in self.groups}, hate=joint[HATE], counter=joint[COUNTER]
        )

    def attacked(self, threshold: float) -> tuple[GroupScore, ...]:
        """Return the groups from `threshold` on, surest first.

        If hate reaches ATTACKS_SOMEBODY, there is always at least the likeliest group; below it, a group must also
        reach SURE.
        """
        ranked = sorted(self.groups, key=lambda group: -self.groups[group])
        attacks = self.hate >= ATTACKS_SOMEBODY
        passing = [group for group in ranked if self.groups[group] >= (threshold if attacks else max(threshold, SURE))]
        if not passing and attacks:
            passing = ranked[:1]
        return tuple(GroupScore(group=group, score=round(self.groups[group], 4)) for group in passing)


@dataclass(frozen=True)
class Heads:
    """Logistic regressions by name, over an embedding of d numbers and `ngrams.BUCKETS` buckets.

    `embedding_weights` has shape (n, d), `ngram_weights` (ngrams.BUCKETS, n), `bias` (n,). `hate` adds to the logit of
    that head, and `tokens` refines its probability. All fit the vectors of one embedder only, named in `embedder`.
    """

    names: tuple[str, ...]
    embedding_weights: NDArray[np.float32]
    ngram_weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    hate: Network
    embedder: str
    tokens: TokenNetwork | None = None

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """Load the shipped heads, or those at `path`; raises WeightsError for a file that is missing or damaged."""
        file_path = path or resources.files("pipeline").joinpath("data/heads.npz")
        with open_arrays(file_path, "The heads of triage") as data:
            return cls(
                tuple(data["names"].tolist()),
                data["embedding_weights"].astype(np.float32),
                (data["ngram_weights"] * data["ngram_scale"]).astype(np.float32),
                data["bias"],
                Network(*(data[f"hate_{part}"].astype(np.float32) for part in ("hidden", "bias", "out"))),
                str(data["embedder"]),
                TokenNetwork(*(data[f"token_{part}"].astype(np.float32) for part in TOKEN_PARTS))
                if "token_taps" in data
                else None,
            )

    def logits(self, vectors: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        """Return logits of shape (n, heads), in the order of `names`, for vectors of shape (n, d) and their texts."""
        surface = np.zeros((len(texts), len(self.names)), np.float32)
        for row, text in zip(surface, texts, strict=True):
            buckets, weights = ngrams.buckets(text)
            row += weights @ self.ngram_weights[buckets]
        logits = vectors @ self.embedding_weights.T + surface + self.bias
        logits[:, self.names.index(HATE)] += self.hate.logits(vectors)[:, 0]
        return np.asarray(np.clip(logits, -30, 30), np.float32)

    def probabilities(self, vectors: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the probabilities that belong to `logits`, in the same shape."""
        return np.asarray(1 / (1 + np.exp(-self.logits(vectors, texts))), np.float32)

    def score(self, vector: NDArray[np.float32], text: str, tokens: NDArray[np.float32] | None = None) -> Scores:
        """Score a text by its embedding, shape (d,), and its tokens' states, shape (tokens, width), if any.

        Raises BadInput for an embedding of another shape.
        """
        width = self.embedding_weights.shape[1]
        if vector.shape != (width,):
            raise BadInput(f"The heads read {width} numbers, not an embedding of shape {vector.shape}.")
        scores = Scores.read(self.names, self.probabilities(vector[np.newaxis], [text])[0])
        if self.tokens is None or tokens is None:
            return scores
        return replace(scores, hate=self.tokens.hate(scores.hate, tokens))
