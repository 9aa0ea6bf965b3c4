"""The posts that the evidence search is measured on, and the grades that readers gave to texts for them."""

from __future__ import annotations

import ast
import csv
import hashlib
import io
import json
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.domain import TargetGroup
from core.errors import BadInput
from kb.claims.loading import ClaimFiles

HERE = Path(__file__).parent
FRESH = ("fresh", "second_fresh", "third_fresh", "fourth_fresh", "fifth_fresh")
"""The sets of posts that nothing learns from, by their files' names; limits were chosen without the last in view."""
FITS = 1.5
"""The lowest mean grade at which a text counts as answering the post."""

Grades = Mapping[tuple[str, str], tuple[int, ...]]
"""The readers' grades by post and text id: 0 wrong, 1 the same subject, 2 answers what the post says."""


@dataclass(frozen=True)
class Post:
    """A post of the yardstick, with the groups that its annotators named."""

    id: str
    text: str
    language: str
    groups: tuple[TargetGroup, ...]

    @property
    def half(self) -> str:
        """Return `calibrate` or `report`: limits are set on the first half, figures are reported for the second."""
        return ("calibrate", "report")[hashlib.sha256(self.id.encode()).digest()[0] % 2]


def read_posts(data: Path | None, folder: Path = HERE) -> list[Post]:
    """Return the posts written out in `written.toml`, and, if `data` is given, those taken from data sets.

    Raises BadInput for an id that no data set has.
    """
    written = tomllib.loads((folder / "written.toml").read_text("utf-8"))["post"]
    posts = [Post(row["id"], row["text"], _language(row["id"]), _groups(row["groups"])) for row in written]
    if data is None:
        return posts
    texts = texts_by_id(data)
    for key, groups in _rows(folder / "groups.tsv"):
        if key not in texts:
            raise BadInput(f"No data set under {data} has the post {key}. Give the folder that holds `datasets`.")
        posts.append(Post(key, texts[key], "en", _groups(groups.split(","))))
    return posts


def read_grades(folder: Path = HERE) -> dict[tuple[str, str], tuple[int, ...]]:
    """Return the readers' grades in `grades.tsv`."""
    return {(post, text): tuple(map(int, grades)) for post, text, *grades in _rows(folder / "grades.tsv")}


@dataclass(frozen=True)
class FreshPost(Post):
    """A post that nothing learns from, with the claims on file whose facts may answer it; empty if none do."""

    claims: frozenset[str]


def read_fresh(files: ClaimFiles, name: str = FRESH[0], folder: Path = HERE) -> list[FreshPost]:
    """Return a set of fresh posts, one of FRESH; raises BadInput for a claim that is not on file."""
    posts = []
    for row in tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))["post"]:
        claims = frozenset(row["claims"])
        if missing := claims - files.claims.keys():
            raise BadInput(
                f"{row['id']} in {name}.toml names claims that are not on file: {', '.join(sorted(missing))}."
            )
        groups = dict.fromkeys(files.group_of(files.claims[claim]) for claim in row["claims"])
        posts.append(FreshPost(row["id"], row["text"], _language(row["id"]), tuple(groups), claims))
    return posts


def grades_by_claims(
    posts: Sequence[FreshPost], files: ClaimFiles, results: Mapping[str, Sequence[str]]
) -> dict[tuple[str, str], tuple[int, ...]]:
    """Return grades made from the posts' claims: 2 for each of their facts, 0 for any other text found."""
    grades: dict[tuple[str, str], tuple[int, ...]] = {}
    for post in posts:
        grades |= {(post.id, text): (0,) for text in results.get(post.id, ())}
        grades |= {(post.id, fact): (2,) for name in post.claims for fact in files.claims[name].facts}
    return grades


def texts_by_id(data: Path) -> dict[str, str]:
    """Return the texts of the data sets' posts by `dataset:id`, the ids that labels and the yardstick use."""
    sets = data / "datasets"
    texts: dict[str, str] = {}
    for split in ("val", "test"):
        with (sets / "HateXplain" / f"df_{split}_processed.csv").open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                texts[f"hatexplain:{row['id']}"] = " ".join(ast.literal_eval(row["post_tokens"]))
    # CrowdCounter has the same posts in their original spelling, with capitals and punctuation.
    crowd = json.loads((sets / "CrowdCounter" / "Final_Dataset_additional_context.json").read_text("utf-8"))
    texts |= {f"hatexplain:{case['org_id']}": case["post"] for case in crowd.values()}
    with (
        zipfile.ZipFile(sets / "MLMA" / "hate_speech_mlma.zip") as archive,
        archive.open("hate_speech_mlma/en_dataset.csv") as raw,
    ):
        rows = csv.DictReader(io.TextIOWrapper(raw, "utf-8"))
        texts |= {f"mlma:{row['HITId']}": row["tweet"] for row in rows}
    with (sets / "EDOS" / "edos_labelled_aggregated.csv").open(newline="", encoding="utf-8") as file:
        texts |= {f"edos:{row['rewire_id']}": row["text"] for row in csv.DictReader(file)}
    with (sets / "Davidson2017" / "labeled_data.csv").open(newline="", encoding="utf-8") as file:
        texts |= {f"davidson:{next(iter(row.values()))}": row["tweet"] for row in csv.DictReader(file)}
    with (sets / "Hatemoji" / "HatemojiBuild_train.csv").open(newline="", encoding="utf-8") as file:
        texts |= {f"hatemoji:{row['entry_id']}": row["text"] for row in csv.DictReader(file)}
    return texts


def fitting(post: Post, grades: Grades) -> bool:
    """Tell whether any graded text answers a post, by its mean grade."""
    return any(key[0] == post.id and float(np.mean(by_reader)) >= FITS for key, by_reader in grades.items())


def weighted_kappa(grades: Grades) -> float:
    """Return Cohen's kappa with quadratic weights, over the texts that two readers graded."""
    pairs = np.array([by_reader for by_reader in grades.values() if len(by_reader) == 2])
    table = np.zeros((3, 3))
    np.add.at(table, (pairs[:, 0], pairs[:, 1]), 1 / len(pairs))
    distance = (np.arange(3)[:, None] - np.arange(3)) ** 2
    return float(1 - (distance * table).sum() / (distance * np.outer(table.sum(1), table.sum(0))).sum())


def _language(key: str) -> str:
    return key.partition(":")[2][:2]


def _groups(names: Sequence[str]) -> tuple[TargetGroup, ...]:
    return tuple(map(TargetGroup, names))


def _rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
