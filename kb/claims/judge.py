"""Judge how probably a post makes a claim on file, from its embedding and the wordings near it.

`rejoinder train claims` writes the arrays; data, figures and limits stand in `data/matching.md`.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Self

import numpy as np
from numpy.typing import NDArray

from core.domain import AttackKind
from core.errors import KnowledgeBaseError
from kb.query import Vectors

NAME = "matching.npz"
KINDS: tuple[AttackKind | None, ...] = (*AttackKind, None)
"""What the kind head tells apart; None is for posts that attack nobody."""
SPREAD = 15.0
"""What brings the numbers of a centred unit vector near to 1."""
PER_CLAIM = 30.0
"""The weight that all wordings of a claim have together, however many they are."""
FEATURES = (
    "best cosine", "mean of the best three", "gap to the best claim", "gap of the means", "learned",
    "gap of the learned", "surest group", "another of its groups", "elsewhere", "elsewhere, not English", "not English",
    "words", "words x mean",
    "kind is likely", "nothing is likely", "a threat is likely", "a claim is likely",
    *(f"of kind {kind}" for kind in AttackKind), "an insult's entry", "an insult's entry x insult is likely",
)  # fmt: skip


@dataclass(frozen=True)
class Nearness:
    """How near the wordings of each claim are to a post, as centred cosines, each of shape (claims,)."""

    best: Vectors
    three: Vectors


@dataclass(frozen=True)
class ClaimTable:
    """What is known of the claims that posts are judged on, in one order: kinds, and weights of shape (claims, d + 1).

    `insults` marks the entries that stand for an insult as such, by the end of their names.
    """

    kinds: Sequence[AttackKind]
    insults: Vectors
    weights: Vectors


@dataclass(frozen=True)
class Judge:
    """Learned arrays for the vectors of one embedder, d numbers long.

    `kinds` has shape (KINDS, d + 1). `inverse` (d + 1, d + 1) and `posts` (claims, d + 1) make a claim's weights of the
    wordings on file and the labelled posts, by least squares: a claim of one's own gets them too. `weights` and
    `bias` turn FEATURES into a probability.
    """

    embedder: str
    centre: Vectors
    kinds: Vectors
    inverse: Vectors
    claims: tuple[str, ...]
    posts: Vectors
    weights: Vectors
    bias: float

    @classmethod
    def read(cls, data: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]) -> Self:
        """Build a judge from the arrays of its file; raises KeyError for one that is missing."""
        numbers = {name: np.asarray(data[name], np.float32) for name in ("centre", "kinds", "inverse", "posts")}
        return cls(
            embedder=str(data["embedder"]),
            claims=tuple(map(str, data["claims"])),
            weights=np.asarray(data["weights"], np.float32),
            bias=float(np.asarray(data["bias"], np.float32)),
            **numbers,
        )

    def table(self, claims: Mapping[str, AttackKind], owners: Sequence[str], vectors: Vectors) -> ClaimTable:
        """Return the table of claims, given by id, from the claims that own the wordings' vectors."""
        names = list(claims)
        numbers = np.array([names.index(owner) for owner in owners])
        sums = sums_of(self.standard(vectors), numbers, len(names))
        known = dict(zip(self.claims, self.posts, strict=True))
        sums += np.stack([known.get(name, np.zeros_like(sums[0])) for name in names])
        insults = np.array([name.endswith("-insult") for name in names], np.float32)
        return ClaimTable(tuple(claims.values()), insults, np.asarray(sums @ self.inverse, np.float32))

    def standard(self, vectors: Vectors) -> Vectors:
        """Return vectors, shape (n, d), as the learned arrays read them: shape (n, d + 1)."""
        scaled = (vectors - self.centre) * SPREAD
        return np.asarray(np.hstack([scaled, np.ones((len(scaled), 1), np.float32)]), np.float32)

    def kind_probabilities(self, vector: Vectors) -> Vectors:
        """Return how probable each of KINDS is for a post."""
        logits = self.kinds @ self.standard(vector[None])[0]
        powers = np.exp(logits - logits.max())
        return np.asarray(powers / powers.sum(), np.float32)

    def learned(self, vector: Vectors, table: ClaimTable) -> Vectors:
        """Return the least-squares score of each claim for a post, about 1 for a claim that it makes."""
        return np.asarray(table.weights @ self.standard(vector[None])[0], np.float32)

    def probabilities(self, features: Vectors) -> Vectors:
        """Return how probably a post makes each claim, from features of shape (claims, FEATURES)."""
        return np.asarray(1 / (1 + np.exp(-np.clip(features @ self.weights + self.bias, -30, 30))), np.float32)


@dataclass(frozen=True)
class Setting:
    """What else is known of a post: the place of each claim's group, its language, the number of its words.

    A place is 0 for the group that triage is surest of, then 1 and so on, -1 for a group that it doesn't name; where it
    names none, `places` is None.
    """

    places: NDArray[np.int_] | None
    language: str
    words: int


def features(near: Nearness, learned: Vectors, kinds: Vectors, table: ClaimTable, setting: Setting) -> Vectors:
    """Return the features of a post with each claim, shape (claims, FEATURES)."""
    logs = np.log(np.clip(kinds, 1e-3, 1))
    own_kind = np.array([KINDS.index(kind) for kind in table.kinds])
    count = len(own_kind)
    length = np.full(count, np.log1p(setting.words))
    places = np.full(count, -2) if setting.places is None else setting.places
    foreign = np.full(count, float(setting.language != "en"), np.float32)
    one_hot = [np.asarray(own_kind == number, np.float32) for number in range(len(AttackKind))]

    def same(kind: AttackKind | None) -> Vectors:
        return np.full(count, logs[KINDS.index(kind)], np.float32)

    columns = [
        near.best, near.three, near.best - near.best.max(), near.three - near.three.max(), learned,
        learned - learned.max(), places == 0, places > 0, places == -1, (places == -1) * foreign, foreign,
        length, length * near.three,
        logs[own_kind], same(None), same(AttackKind.THREAT), same(AttackKind.CLAIM),
        *one_hot, table.insults, table.insults * same(AttackKind.INSULT),
    ]  # fmt: skip
    return np.stack(columns, axis=1).astype(np.float32)


def sums_of(standard: Vectors, owners: np.ndarray[tuple[int], np.dtype[np.int_]], count: int) -> Vectors:
    """Return the sum of each claim's wordings, shape (count, d + 1), all claims weighing alike."""
    sums = np.zeros((count, standard.shape[1]), np.float32)
    np.add.at(sums, owners, standard)
    sizes = np.maximum(np.bincount(owners, minlength=count), 1)
    return np.asarray(sums * (PER_CLAIM / sizes)[:, None], np.float32)


@lru_cache(maxsize=1)
def shipped_judge() -> Judge:
    """Return the judge that the package ships; raises KnowledgeBaseError when its file can't be read."""
    try:
        with np.load(io.BytesIO((files("kb") / "data" / NAME).read_bytes()), allow_pickle=False) as data:
            return Judge.read(data)
    except (OSError, ValueError, KeyError) as error:
        raise KnowledgeBaseError(f"The package's {NAME} can't be read: {error}. Install the package again.") from error
