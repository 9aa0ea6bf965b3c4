"""Further opinions on which claims a post makes: by the embedder's layers that are tuned for posts, and a larger model.

The first opinion is the judge's, on the post's embedding. `rejoinder train post-layers` and `post-reader` write the
weights; data, figures and limits are in `models/data/e5_posts.md` and `pipeline/data/post_reader.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np

from core.errors import KnowledgeBaseError
from kb.query import Vectors
from models.arrays import open_arrays

NAMES = ("second_opinion.npz", "reread_opinion.npz")
"""The shipped opinions, in the order in which they count: of the embedder's layers, and of the larger model."""
NEARLY = 1e-6
"""Least distance of a probability from 0 and 1; nearer ones are clipped, so that their log odds are finite."""


@dataclass(frozen=True)
class ClaimOpinion:
    """Linear heads over a post's reading of m numbers, and how they are weighed against the opinion before it.

    - `weights` (claims, m) and `bias` (claims,) recognise the claims
    - `answerable` (m + 1,) tells whether anything on file answers
    - `of_claims` weighs the first opinion's log odds of a claim, the logarithm of the claim's share here, the first
      opinion's gap to its best claim, and a constant
    - `of_gate` weighs what both say of `answerable`, and a constant
    """

    claims: tuple[str, ...]
    weights: Vectors
    bias: Vectors
    answerable: Vectors
    of_claims: Vectors
    of_gate: Vectors

    def probabilities(self, names: Sequence[str], first: Vectors, reading: Vectors) -> Vectors:
        """Return how probably a post makes each of the claims `names`; one that was not learned keeps `first`."""
        places = {name: place for place, name in enumerate(self.claims)}
        known = [number for number, name in enumerate(names) if name in places]
        joint = first.copy()
        if known:
            features = claim_features(first[known], self.shares(reading)[[places[names[number]] for number in known]])
            joint[known] = _probability(features @ self.of_claims)
        return joint

    def shares(self, reading: Vectors) -> Vectors:
        """Return the logarithm of each claim's share among the learned claims, shape (claims,)."""
        logits = self.weights @ reading + self.bias
        highest = logits.max()
        return np.asarray(logits - highest - np.log(np.exp(logits - highest).sum()), np.float32)

    def gate(self, first: float, reading: Vectors) -> float:
        """Return how probably anything on file answers a post, given the probability by the opinion before."""
        return float(_probability(gate_features(first, self.answered(reading)) @ self.of_gate))

    def answered(self, reading: Vectors) -> float:
        """Return the log odds that anything on file answers a post."""
        return float(self.answerable[:-1] @ reading + self.answerable[-1])


def claim_features(first: Vectors, shares: Vectors) -> Vectors:
    """Return the inputs of `of_claims`, shape (claims, 4), from first probabilities and logarithms of shares."""
    odds = log_odds(first)
    return np.stack([odds, shares, odds - odds.max(), np.ones_like(odds)], axis=1)


def gate_features(first: float, answered: float) -> Vectors:
    """Return the inputs of `of_gate`, from the first probability and the log odds of `answered`."""
    return np.array([float(log_odds(np.float32(first))), answered, 1.0], np.float32)


def log_odds(probabilities: Vectors | np.float32) -> Vectors:
    """Return the logarithm of the odds of probabilities."""
    kept = np.clip(probabilities, NEARLY, 1 - NEARLY)
    return np.asarray(np.log(kept / (1 - kept)), np.float32)


def _probability(logits: Vectors) -> Vectors:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -30, 30))), np.float32)


@lru_cache(maxsize=1)
def shipped_opinions() -> tuple[ClaimOpinion, ...]:
    """Return the opinions that the package ships, in the order of NAMES.

    Raises KnowledgeBaseError if a file can't be read.
    """
    return tuple(map(shipped_opinion, NAMES))


def shipped_opinion(name: str) -> ClaimOpinion:
    """Return one of the opinions that the package ships; raises KnowledgeBaseError if its file can't be read."""
    with open_arrays(files("kb") / "data" / name, "The second opinion on claims", KnowledgeBaseError) as data:
        arrays = {part: data[part].astype(np.float32) for part in data.files if part != "claims"}
        return ClaimOpinion(tuple(map(str, data["claims"])), **arrays)
