"""Measure the judge of claims on posts that it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files as package_files
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from core.settings import KnowledgeBaseSettings
from kb.claims.judge import KINDS, Judge
from kb.claims.loading import ClaimFiles
from kb.claims.matching import ClaimMatcher, Wording
from kb.claims.reviews import load_reviews
from kb.query import Vectors
from pipeline.heads import Heads
from pipeline.languages import DEFAULT
from training.claims.data import Post, groups_of, read_labelled

UNSEEN = Path(__file__).with_name("unseen.tsv")
NATURAL = "hatexplain"
"""The data set whose posts are in their natural mix; others were collected by the words they contain."""


@dataclass(frozen=True)
class Unseen:
    """The figures of a judge on posts that it was not trained on.

    `with_claim` posts make a claim on file. `first` and `among_three` are the shares of these for which a right claim
    is the most probable, or among the first three. `answerable` is the AUC with which the gate tells them from the
    others, leaving out threats without a claim; `nobody` is the AUC of the kind "none" against all other kinds.
    """

    posts: int
    with_claim: int
    first: float
    among_three: float
    answerable: float
    nobody: float


def read_unseen(data: Path) -> list[Post]:
    """Return the posts of `unseen.tsv` whose texts are in the data sets under `data`."""
    return read_labelled(data, UNSEEN)


def measure_unseen(
    judge: Judge, files: ClaimFiles, wordings: list[Wording], vectors: Vectors,
    posts: Sequence[Post], post_vectors: Vectors,
) -> Unseen:  # fmt: skip
    """Return the judge's figures on posts with embeddings of shape (posts, d); it judges them as grounding does."""
    reviews, heads = load_reviews(package_files("kb")), Heads.load()
    matcher = ClaimMatcher(files, reviews, wordings, vectors, judge, KnowledgeBaseSettings())
    hits, gate, attacked = [], [], []
    for post, vector in zip(posts, post_vectors, strict=True):
        reading = matcher.read(post.text, vector, groups_of(post.text, vector, heads), DEFAULT)
        if post.claims:
            hits.append([name in post.claims for name in list(reading.claims)[:3]])
        if post.claims or str(post.kind) != "threat":
            gate.append((bool(post.claims), reading.answerable))
        attacked.append((post.kind is not None, 1 - float(reading.kinds[KINDS.index(None)])))
    return Unseen(
        posts=len(posts),
        with_claim=len(hits),
        first=float(np.mean([hit[0] for hit in hits])),
        among_three=float(np.mean([any(hit) for hit in hits])),
        answerable=float(roc_auc_score(*zip(*gate, strict=True))),
        nobody=float(roc_auc_score(*zip(*attacked, strict=True))),
    )
