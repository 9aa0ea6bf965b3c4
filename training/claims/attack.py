"""Learn the probability that readers see a post as an attack on a group: rude talk without one needs no answer."""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, hstack, vstack
from sklearn.linear_model import LogisticRegression

from evaluation.evidence.yardstick import texts_by_id
from kb.claims.judge import SURFACE, Judge, surface_buckets
from kb.claims.records import LANGUAGES
from kb.query import Vectors
from pipeline.normalise import normalise
from pipeline.scoring import LONGEST_READ
from training.claims.data import Post
from training.heads.data import letters, reserved_posts
from training.heads.sample import Part
from training.heads.written import read_functional, read_written

SHARES = (1.0, 0.0, 0.5)
"""How far each of HateXplain's votes counts as an attack, 0 to 1: hate, normal, offensive."""
DAVIDSON = {"0": (1.0, 1500), "1": (0.15, 3000), "2": (0.0, 1500)}
"""For each class of Davidson's (hate, offensive, neither): how far it counts as an attack, and the most posts used."""
OWN_POST = 0.7
"""Weight of a sentence of our own that stands in for a post."""
STRENGTH, MEANING, WORDS = 0.05, 0.3, 3.0
"""Inverse regularisation (scikit-learn's C), and the factors by which both views are scaled before fitting."""


@dataclass(frozen=True)
class Judged:
    """A text, the share of readers who see an attack on a group in it, and its weight; `id` is the post's."""

    text: str
    share: float
    weight: float
    language: str = "en"
    id: str = ""


def read_judged(data: Path) -> list[Judged]:
    """Return judged texts: HateXplain's posts, Davidson's, and sentences of our own in every language on file.

    The posts of the yardstick, the flagged posts and copies of both are left out.
    """
    texts = texts_by_id(data)
    rows = map(json.loads, (data / "flags" / "real_posts.jsonl").read_text("utf-8").splitlines())
    flagged = {f"hatexplain:{row['post_id']}_{row['platform']}": row["text"] for row in rows}
    reserved = {f"{source}:{post}" for source, posts in reserved_posts().items() for post in posts} | flagged.keys()
    copies = {letters(flagged.get(key, texts.get(key, ""))) for key in reserved}
    judged = [*_hatexplain(data, texts, reserved), *_davidson(data), *_own()]
    return [each for each in judged if each.text and letters(each.text) not in copies]


def own_judged(posts: Iterable[Post]) -> list[Judged]:
    """Return the sentences of our own among `posts`; those that make a claim count as attacks to all readers."""
    return [
        Judged(post.text, float(bool(post.claims)), OWN_POST, post.language, post.id)
        for post in posts
        if not post.labelled
    ]


def _hatexplain(data: Path, texts: dict[str, str], reserved: Collection[str]) -> Iterator[Judged]:
    for split in ("val", "test"):
        with (data / "datasets" / "HateXplain" / f"df_{split}_processed.csv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                key = f"hatexplain:{row['id']}"
                votes = ast.literal_eval(row["annotators"])["label"]
                if key not in reserved:
                    yield Judged(_text(texts[key]), float(np.mean([SHARES[vote] for vote in votes])), 4.0, id=key)


def _davidson(data: Path) -> Iterator[Judged]:
    left = {name: most for name, (_, most) in DAVIDSON.items()}
    with (data / "datasets" / "Davidson2017" / "labeled_data.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if left[row["class"]]:
                left[row["class"]] -= 1
                yield Judged(_text(row["tweet"].lstrip('!" ').removeprefix("RT")), DAVIDSON[row["class"]][0], 0.5)


def _own() -> Iterator[Judged]:
    samples = [*read_written(), *(sample for sample in read_functional() if sample.part is Part.TRAIN)]
    for sample in samples:
        if sample.hateful is not None and sample.language in LANGUAGES:
            yield Judged(_text(sample.text), float(sample.hateful), 1.0, sample.language)


def _text(raw: str) -> str:
    return normalise(raw)[:LONGEST_READ]


def fit_attack(
    judged: list[Judged], vectors: Vectors, judge: Judge, without: Collection[str]
) -> tuple[Vectors, Vectors]:
    """Return the weights of the embedding (d + 1) and of words (SURFACE), fitted without the posts in `without`."""
    rows = [number for number, each in enumerate(judged) if each.id not in without or not each.id]
    texts = [judged[number] for number in rows]
    meaning = judge.standard(vectors[rows], [each.language for each in texts])[:, :-1]
    x = hstack([csr_array(meaning * MEANING), _surface([each.text for each in texts]) * WORDS]).tocsr()
    shares, weights = (np.array([getattr(each, name) for each in texts]) for name in ("share", "weight"))
    truth = np.repeat([1, 0], len(rows))
    regression = LogisticRegression(C=STRENGTH, max_iter=300).fit(
        vstack([x, x]), truth, np.r_[shares * weights, (1 - shares) * weights]
    )
    slopes = regression.coef_[0]
    width = meaning.shape[1]
    dense = np.r_[slopes[:width] * MEANING, regression.intercept_]
    return dense.astype(np.float32), (slopes[width:] * WORDS).astype(np.float32)


def _surface(texts: list[str]) -> csr_array:
    columns = [surface_buckets(text) for text in texts]
    starts = np.cumsum([0, *(len(buckets) for buckets, _ in columns)])
    weights = np.concatenate([weights for _, weights in columns])
    return csr_array(
        (weights, np.concatenate([buckets for buckets, _ in columns]), starts), shape=(len(texts), SURFACE)
    )
