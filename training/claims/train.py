"""Train the judge of claims, and write its arrays and model card. Needs scikit-learn (the `dev` extra)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files as package_files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from core.domain import AttackKind
from core.settings import KnowledgeBaseSettings
from kb.claims.judge import (
    FEATURES,
    KINDS,
    NAME,
    PER_CLAIM,
    ClaimTable,
    Impression,
    Judge,
    gate_features,
    row_of,
    sums_of,
)
from kb.claims.loading import ClaimFiles, load_claims
from kb.claims.matching import ClaimMatcher, Wording, centres_of, embedded
from kb.claims.reviews import load_reviews
from kb.query import Vectors
from models.e5 import E5Embedder
from models.embedders import default_embedder
from pipeline.heads import Heads
from pipeline.languages import DEFAULT
from training.claims.attack import Judged, fit_attack, own_judged, read_judged
from training.claims.data import Post, groups_of, harmless, read_labelled, wordings_as_posts
from training.claims.model_card import Measured, write_card
from training.claims.unseen import NATURAL, Unseen, measure_unseen, read_unseen
from training.heads.train import embed_cached

FOLDS = 5
POST = 3.0
"""Weight of a labelled post in the least squares; all wordings of a claim together have the weight 30."""
RIDGE = 0.03
"""Regularisation per row of the least squares."""
KIND_STRENGTH, PAIR_STRENGTH = 0.03, 0.05
"""Inverse regularisation (scikit-learn's C) of the kind head, and of the regression on pairs."""
WORDINGS_READ, WORDING = 3000, 0.1
"""Wordings that the kind head is trained on, and the weight of each."""
OWN = 0.5
"""Weight of a sentence of our own in the regression on pairs."""
OWN_GATE, HARMLESS_ELSEWHERE = 0.3, 2.0
"""Weight of a sentence of our own for the gate, and a factor for harmless ones in other languages than English: there,
most training texts make a claim."""
Rows = NDArray[np.int_]


@dataclass(frozen=True)
class Material:
    """The training data: posts, wordings and judged texts, with their vectors and folds.

    `folds` has the fold of each post. `of_wordings` has the fold of each wording that stands in for a post (and of its
    translations), FOLDS for the others, which every model sees.
    """

    files: ClaimFiles
    wordings: list[Wording]
    vectors: Vectors
    posts: list[Post]
    post_vectors: Vectors
    folds: Rows
    of_wordings: Rows
    judged: list[Judged]
    judged_vectors: Vectors

    @property
    def owners(self) -> list[str]:
        """Return the claim of each wording."""
        return [wording.claim for wording in self.wordings]


def train_and_write(data: Path, out: Path, cache: Path) -> str:
    """Train on the labelled posts and the wordings on file, write `matching.npz` and its card, and return the card."""
    material = gather(data, cache)
    measured = cross_validate(material)
    judge = fit(material, measured)
    out.mkdir(parents=True, exist_ok=True)
    save(judge, out / NAME)
    card = write_card(
        measured, unseen(judge, material, data, cache), hashlib.sha256((out / NAME).read_bytes()).hexdigest()
    )
    (out / "matching.md").write_text(card, encoding="utf-8")
    return card


def unseen(judge: Judge, material: Material, data: Path, cache: Path) -> dict[str, Unseen]:
    """Measure the judge on the posts that it was not trained on: those in their natural mix, and the others."""
    parts: dict[str, list[Post]] = {}
    for post in read_unseen(data):
        parts.setdefault("HateXplain, natural mix" if post.id.startswith(NATURAL) else "MLMA", []).append(post)
    measured = {}
    for name, posts in parts.items():
        vectors = embed_cached([post.text for post in posts], cache)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        measured[name] = measure_unseen(judge, material.files, material.wordings, material.vectors, posts, vectors)
    return measured


def gather(data: Path, cache: Path) -> Material:
    """Read and embed all training data, and split it into folds."""
    files = load_claims()
    wordings, vectors = asyncio.run(_embedded(files))
    posts = [*read_labelled(data), *harmless(), *wordings_as_posts(files, wordings)]
    post_vectors = embed_cached([post.text for post in posts], cache)
    post_vectors /= np.linalg.norm(post_vectors, axis=1, keepdims=True)
    folds = np.zeros(len(posts), np.int_)
    kinds = [str(post.kind) for post in posts]
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(post_vectors, kinds)
    for number, (_, held_out) in enumerate(splits):
        folds[held_out] = number
    of_wordings = np.full(len(wordings), FOLDS)
    for post, fold in zip(posts, folds, strict=True):
        if post.wording is not None:
            of_wordings[like(post.wording, wordings, vectors)] = fold
    judged = [*read_judged(data), *own_judged(posts)]
    judged_vectors = embed_cached([each.text for each in judged], cache)
    judged_vectors /= np.linalg.norm(judged_vectors, axis=1, keepdims=True)
    return Material(files, wordings, vectors, posts, post_vectors, folds, of_wordings, judged, judged_vectors)


def like(number: int, wordings: Sequence[Wording], vectors: Vectors) -> list[int]:
    """Return the numbers of a wording and of its claim's nearest one in each other language, taken as translations."""
    nearest = {wordings[number].language: number}
    own = [n for n, wording in enumerate(wordings) if wording.claim == wordings[number].claim]
    for n in sorted(own, key=lambda n: -float(vectors[n] @ vectors[number])):
        nearest.setdefault(wordings[n].language, n)
    return list(nearest.values())


async def _embedded(files: ClaimFiles) -> tuple[list[Wording], Vectors]:
    embedder = default_embedder()
    try:
        return await embedded(files, embedder)
    finally:
        await embedder.close()


def fit(material: Material, measured: Measured) -> Judge:
    """Fit the judge on everything; pairs and gate are fitted to `measured`, posts that the other parts had not seen."""
    judge = learned(material, FOLDS + 1, *pair_weights(measured.pairs, measured.fits, measured.weights))
    return replace(judge, gate=fit_gate(measured))


def fit_gate(measured: Measured) -> Vectors:
    """Return the gate's weights, fitted to whether posts make a claim on file; threats without one are left out."""
    posts = [(n, post) for n, post in enumerate(measured.posts) if _weight(post)]
    judged = measured.judged.reshape(len(measured.posts), -1)
    rows = [
        gate_features(judged[n], measured.impressions[n], len(post.text.split()), post.language) for n, post in posts
    ]
    answerable = [bool(post.claims) for _, post in posts]
    weights = [_gate_weight(post) for _, post in posts]
    regression = LogisticRegression(fit_intercept=False).fit(np.stack(rows), answerable, weights)
    return np.asarray(regression.coef_[0], np.float32)


def pair_weights(pairs: Vectors, fits: NDArray[np.bool_], weights: Vectors) -> tuple[Vectors, float]:
    """Return weights of shape (FEATURES,) and a bias that turn a pair's features into log odds."""
    scaler = StandardScaler().fit(pairs)
    regression = LogisticRegression(C=PAIR_STRENGTH, max_iter=1000).fit(scaler.transform(pairs), fits, weights)
    slopes = regression.coef_[0] / scaler.scale_
    offset = float(regression.intercept_[0] - slopes @ scaler.mean_)
    return np.asarray(slopes, np.float32), offset


def learned(material: Material, fold: int, weights: Vectors, bias: float) -> Judge:
    """Return a judge fitted without one fold; a number that is no fold leaves nothing out.

    `weights` and `bias` are those of the pairs; the gate stays empty.
    """
    seen, on_file = material.folds != fold, material.of_wordings != fold
    languages = np.array([wording.language for wording in material.wordings])
    centres = centres_of(material.vectors, np.array(list(map(row_of, languages))))
    blank = Judge(E5Embedder.name, centres, _NONE, _NONE, _NONE, _NONE, (), _NONE, weights, bias, _NONE)
    labelled = [int(n) for n in np.flatnonzero(seen) if material.posts[n].labelled]
    rows = blank.standard(material.vectors[on_file], languages[on_file])
    posts = blank.standard(material.post_vectors[labelled], [material.posts[n].language for n in labelled])
    without = {post.id for post, kept in zip(material.posts, seen, strict=True) if not kept}
    attack, surface = fit_attack(material.judged, material.judged_vectors, blank, without)
    names = list(dict.fromkeys(material.owners))
    owners = np.array([names.index(owner) for owner in material.owners])[on_file]
    shares = PER_CLAIM / np.bincount(owners, minlength=len(names))[owners]
    gram = rows.T @ (rows * shares[:, None]) + POST * posts.T @ posts
    gram += RIDGE * (len(rows) + len(posts)) * np.eye(len(gram))
    makes = np.array([[name in material.posts[n].claims for name in names] for n in labelled], np.float32)
    return Judge(
        embedder=E5Embedder.name,
        centres=centres,
        attack=attack,
        surface=surface,
        kinds=_kinds(material, blank, labelled),
        inverse=np.asarray(np.linalg.inv(gram), np.float32),
        claims=tuple(names),
        posts=np.asarray(POST * makes.T @ posts, np.float16).astype(np.float32),
        weights=weights,
        bias=bias,
        gate=_NONE,
    )


_NONE = np.zeros((0, 0), np.float32)
_SETTINGS = KnowledgeBaseSettings()


def _kinds(material: Material, blank: Judge, labelled: Sequence[int]) -> Vectors:
    drawn = np.random.default_rng(0).choice(len(material.wordings), WORDINGS_READ, replace=False)
    languages = [material.posts[n].language for n in labelled] + [material.wordings[n].language for n in drawn]
    x = blank.standard(np.vstack([material.post_vectors[labelled], material.vectors[drawn]]), languages)[:, :-1]
    kinds = [material.posts[n].kind for n in labelled]
    kinds += [material.files.claims[material.wordings[n].claim].kind for n in drawn]
    weights = np.r_[np.ones(len(labelled)), np.full(len(drawn), WORDING)]
    regression = LogisticRegression(C=KIND_STRENGTH, max_iter=300).fit(x, list(map(KINDS.index, kinds)), weights)
    return np.asarray(np.hstack([regression.coef_, regression.intercept_[:, None]]), np.float32)


def cross_validate(material: Material) -> Measured:
    """Judge every post by models that had not seen it, and return the pairs with their probabilities."""
    reviews, heads = load_reviews(package_files("kb")), Heads.load()
    pairs: list[tuple[int, Vectors]] = []
    fits: list[tuple[int, NDArray[np.bool_]]] = []
    blank_table = ClaimTable((), _NONE, _NONE)
    impressions: dict[int, Impression] = {}
    names = list(dict.fromkeys(material.owners))
    for fold in range(FOLDS):
        judge = learned(material, fold, np.zeros(len(FEATURES), np.float32), 0.0)
        matcher = ClaimMatcher(material.files, reviews, material.wordings, material.vectors, judge, _SETTINGS)
        on_file = material.of_wordings != fold
        owners = np.array([names.index(owner) for owner in material.owners])
        languages = [wording.language for wording, kept in zip(material.wordings, on_file, strict=True) if kept]
        rows_on_file = judge.standard(material.vectors[on_file], languages)
        sums = sums_of(rows_on_file, owners[on_file], len(names)) + judge.posts
        table = replace(blank_table, weights=np.asarray(sums @ judge.inverse, np.float32))
        for n in map(int, np.flatnonzero(material.folds == fold)):
            post, vector = material.posts[n], material.post_vectors[n]
            impression = judge.read_post(post.text, vector, post.language, table)
            impressions[n] = impression
            but = [] if post.wording is None else like(post.wording, material.wordings, material.vectors)
            groups = groups_of(post.text, vector, heads)
            rows = matcher.pairs(post.text, vector, groups, post.language, impression, but)
            pairs.append((n, rows))
            fits.append((n, np.array([name in post.claims for name in names], np.bool_)))
    all_pairs = np.vstack([rows for _, rows in sorted(pairs, key=lambda pair: pair[0])])
    fitting = np.concatenate([row for _, row in sorted(fits, key=lambda pair: pair[0])])
    weights = np.repeat([_weight(post) for post in material.posts], len(names))
    of_posts = np.repeat(np.arange(len(material.posts)), len(names))
    judged = np.zeros(len(all_pairs), np.float32)
    for fold in range(FOLDS):
        seen = material.folds[of_posts] != fold
        slopes, bias = pair_weights(all_pairs[seen], fitting[seen], weights[seen])
        judged[~seen] = replace(judge, weights=slopes, bias=bias).probabilities(all_pairs[~seen])
    ordered = [impressions[n] for n in range(len(material.posts))]
    return Measured(material.posts, ordered, of_posts, all_pairs, fitting, np.asarray(weights, np.float32), judged)


def _weight(post: Post) -> float:
    # Threats are escalated before anything answers them: one without named claims may make some all the same.
    if post.kind is AttackKind.THREAT and not post.claims:
        return 0.0
    return 1.0 if post.labelled else OWN


def _gate_weight(post: Post) -> float:
    if post.labelled:
        return 1.0
    return OWN_GATE * (HARMLESS_ELSEWHERE if not post.claims and post.language != DEFAULT else 1.0)


def save(judge: Judge, path: Path) -> None:
    """Write the judge; the same judge gives the same bytes."""
    scale = max(float(np.abs(judge.surface).max()), 1e-9) / 127
    np.savez_compressed(
        path,
        embedder=np.array(judge.embedder),
        centres=judge.centres,
        attack=judge.attack,
        surface=np.round(judge.surface / scale).astype(np.int8),
        surface_scale=np.float32(scale),
        kinds=judge.kinds,
        inverse=judge.inverse,
        claims=np.array(judge.claims),
        posts=judge.posts.astype(np.float16),
        weights=judge.weights,
        gate=judge.gate,
        bias=np.float32(judge.bias),
    )
