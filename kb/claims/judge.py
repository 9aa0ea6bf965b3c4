"""Judge how probably a post makes a claim on file, from its embedding and the wordings near it.

`rejoinder train claims` writes the arrays; data, figures and limits are in `data/matching.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Self

import numpy as np
from numpy.typing import NDArray

from core.domain import AttackKind
from core.errors import KnowledgeBaseError
from kb.claims.records import LANGUAGES
from kb.query import Vectors
from models.arrays import open_arrays
from models.toxicity import features as surface_of

NAME = "matching.npz"
KINDS: tuple[AttackKind | None, ...] = (*AttackKind, None)
"""What the kind head distinguishes; None is for posts that attack nobody."""
SPREAD = 15.0
"""Factor that brings the numbers of a centred unit vector close to 1."""
PER_CLAIM = 30.0
"""Weight of all wordings of a claim together, however many they are."""
SURFACE = 1 << 16
"""Buckets of words and pieces of words that the attack head reads."""
FEATURES = (
    "best cosine", "mean of the best three", "gap to the best claim", "gap of the means", "learned",
    "gap of the learned", "surest group", "another of its groups", "elsewhere", "elsewhere, not English", "not English",
    "words", "words x mean",
    "kind is likely", "nothing is likely", "a threat is likely", "a claim is likely",
    *(f"of kind {kind}" for kind in AttackKind), "an insult's entry", "an insult's entry x insult is likely",
    "best in its language", "gap of the best in its language", "attack", "attack x insult's entry", "attack x mean",
)  # fmt: skip


GATE = ("the surest claim", "mean of the surest three", "attack", "nothing is likely", "words", "not English", "always")
"""Features for whether anything on file answers a post: log odds three times, two logarithms, 0 or 1, and 1."""
ARRAYS = ("centres", "attack", "kinds", "inverse", "posts", "weights", "gate")
"""The float arrays of a judge's file."""


@dataclass(frozen=True)
class Nearness:
    """How near the wordings of each claim are to a post, as centred cosines, each of shape (claims,).

    `best` is the nearest wording's, `three` the mean of the nearest three, `own` the nearest in the post's language.
    """

    best: Vectors
    three: Vectors
    own: Vectors


@dataclass(frozen=True)
class ClaimTable:
    """What is known of the claims that posts are judged on, in one order: kinds, and weights of shape (claims, d + 1).

    `insults` marks the entries for plain insults, recognised by the end of their names.
    """

    kinds: Sequence[AttackKind]
    insults: Vectors
    weights: Vectors


@dataclass(frozen=True)
class Impression:
    """What the judge makes of a post by itself.

    - `kinds`: the probability of each of KINDS
    - `learned`: the least-squares score of each claim, about 1 for a claim that the post makes
    - `attack`: the log odds that readers find that it attacks a group
    """

    kinds: Vectors
    learned: Vectors
    attack: float


@dataclass(frozen=True)
class Judge:
    """Learned arrays for the vectors of one embedder, d numbers long.

    - `centres` (LANGUAGES, d): the means of the wordings in each language; without them, texts are alike in all
      languages
    - `attack` (d + 1) and `surface` (SURFACE): how probably readers find that a post attacks a group, by its meaning
      and by its words
    - `kinds` (KINDS, d + 1): the weights of the kind head
    - `inverse` (d + 1, d + 1) and `posts` (claims, d + 1): by least squares, they turn the wordings on file and the
      labelled posts into a claim's weights, also for a claim of one's own
    - `weights` and `bias` turn FEATURES into a probability, `gate` turns GATE into another
    """

    embedder: str
    centres: Vectors
    attack: Vectors
    surface: Vectors
    kinds: Vectors
    inverse: Vectors
    claims: tuple[str, ...]
    posts: Vectors
    weights: Vectors
    bias: float
    gate: Vectors

    @classmethod
    def read(cls, data: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]) -> Self:
        """Build a judge from the arrays of its file; raises KeyError if one is missing."""
        numbers = {name: np.asarray(data[name], np.float32) for name in ARRAYS}
        return cls(
            embedder=str(data["embedder"]),
            claims=tuple(map(str, data["claims"])),
            surface=np.asarray(data["surface"], np.float32) * np.asarray(data["surface_scale"], np.float32),
            bias=float(np.asarray(data["bias"], np.float32)),
            **numbers,
        )

    def table(
        self, claims: Mapping[str, AttackKind], owners: Sequence[str], vectors: Vectors, languages: Sequence[str]
    ) -> ClaimTable:
        """Return the table of the claims, given by id, from the wordings' owners, vectors and languages."""
        names = list(claims)
        places = {name: place for place, name in enumerate(names)}
        numbers = np.array([places[owner] for owner in owners])
        sums = sums_of(self.standard(vectors, languages), numbers, len(names))
        known = dict(zip(self.claims, self.posts, strict=True))
        sums += np.stack([known.get(name, np.zeros_like(sums[0])) for name in names])
        insults = np.array([name.endswith("-insult") for name in names], np.float32)
        return ClaimTable(tuple(claims.values()), insults, np.asarray(sums @ self.inverse, np.float32))

    def standard(self, vectors: Vectors, languages: Sequence[str]) -> Vectors:
        """Return vectors, shape (n, d), in their languages as the learned arrays read them: shape (n, d + 1)."""
        scaled = (vectors - self.centres[[row_of(language) for language in languages]]) * SPREAD
        return np.asarray(np.hstack([scaled, np.ones((len(scaled), 1), np.float32)]), np.float32)

    def kind_probabilities(self, vector: Vectors, language: str) -> Vectors:
        """Return the probability of each of KINDS for a post."""
        logits = self.kinds @ self.standard(vector[None], [language])[0]
        powers = np.exp(logits - logits.max())
        return np.asarray(powers / powers.sum(), np.float32)

    def read_post(self, text: str, vector: Vectors, language: str, table: ClaimTable) -> Impression:
        """Return what the learned arrays say of a post by itself, whatever wordings are near."""
        row = self.standard(vector[None], [language])[0]
        buckets, weights = surface_buckets(text)
        return Impression(
            kinds=self.kind_probabilities(vector, language),
            learned=np.asarray(table.weights @ row, np.float32),
            attack=float(self.attack @ row + self.surface[buckets] @ weights),
        )

    def answerable(self, claims: Vectors, impression: Impression, words: int, language: str) -> float:
        """Return how probably something on file answers a post with these probabilities of claims."""
        return float(1 / (1 + np.exp(-self.gate @ gate_features(claims, impression, words, language))))

    def probabilities(self, features: Vectors) -> Vectors:
        """Return how probably a post makes each claim, from features of shape (claims, FEATURES)."""
        return np.asarray(1 / (1 + np.exp(-np.clip(features @ self.weights + self.bias, -30, 30))), np.float32)


def gate_features(claims: Vectors, impression: Impression, words: int, language: str) -> Vectors:
    """Return GATE of a post, from its claims' probabilities, in any order, and its number of words."""
    surest = np.sort(claims)[::-1][:3]
    odds = [float(np.log(p / (1 - p))) for p in np.clip([surest[0], surest.mean()], 1e-4, 1 - 1e-4)]
    nothing = float(np.log(max(impression.kinds[KINDS.index(None)], 1e-3)))
    return np.array([*odds, impression.attack, nothing, np.log1p(words), language != "en", 1.0], np.float32)


@dataclass(frozen=True)
class Setting:
    """What else is known of a post: the place of each claim's group, the post's language, its number of words.

    A place is 0 for the group that triage is surest of, then 1 and so on, and -1 for a group that triage doesn't name.
    If triage names none, `places` is None.
    """

    places: NDArray[np.int_] | None
    language: str
    words: int


def features(near: Nearness, impression: Impression, table: ClaimTable, setting: Setting) -> Vectors:
    """Return the features of a post for each claim, shape (claims, FEATURES)."""
    logs, learned = np.log(np.clip(impression.kinds, 1e-3, 1)), impression.learned
    own_kind = np.array([KINDS.index(kind) for kind in table.kinds])
    count = len(own_kind)
    length = np.full(count, np.log1p(setting.words))
    places = np.full(count, -2) if setting.places is None else setting.places
    attack = np.full(count, impression.attack, np.float32)
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
        near.own, near.own - near.own.max(), attack, attack * table.insults, attack * near.three,
    ]  # fmt: skip
    return np.stack(columns, axis=1).astype(np.float32)


def row_of(language: str) -> int:
    """Return a language's row in arrays by language; English's for a language that is not on file."""
    return next((row for row, known in enumerate(LANGUAGES) if known == language), 0)


def surface_buckets(text: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the buckets, below SURFACE, of a text's words and pieces of words, and their weights."""
    buckets, weights = surface_of(text)
    return buckets % SURFACE, weights


def sums_of(standard: Vectors, owners: np.ndarray[tuple[int], np.dtype[np.int_]], count: int) -> Vectors:
    """Return the sums of each claim's wordings, shape (count, d + 1); all claims have the same weight."""
    sums = np.zeros((count, standard.shape[1]), np.float32)
    np.add.at(sums, owners, standard)
    sizes = np.maximum(np.bincount(owners, minlength=count), 1)
    return np.asarray(sums * (PER_CLAIM / sizes)[:, None], np.float32)


@lru_cache(maxsize=1)
def shipped_judge() -> Judge:
    """Return the judge that the package ships; raises KnowledgeBaseError if its file can't be read."""
    with open_arrays(files("kb") / "data" / NAME, "The judge of claims", KnowledgeBaseError) as data:
        return Judge.read(data)
