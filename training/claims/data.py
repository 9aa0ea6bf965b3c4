"""Read the posts labelled with the claims on file, whose texts are looked up in the data sets."""

from __future__ import annotations

import tomllib
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.domain import AttackKind, TargetGroup
from core.settings import TriageSettings
from evaluation.evidence.yardstick import texts_by_id
from kb.claims.loading import ClaimFiles
from kb.claims.matching import Wording
from kb.claims.records import LANGUAGES
from pipeline.heads import Heads
from pipeline.languages import DEFAULT
from pipeline.normalise import normalise
from pipeline.scoring import LONGEST_READ
from training.heads.sample import Part
from training.heads.written import read_functional, read_written

LABELS = Path(__file__).with_name("labels.tsv")
OWN_HARMLESS = Path(__file__).with_name("harmless.toml")
TWINS = Path(__file__).with_name("twins.tsv")
HELD_OUT_OF = 10
"""One in this many twins, chosen by checksum, is for the report only."""
ATTACKS = frozenset({"makes", "odd"})
ATTACK_NOBODY = frozenset({"question", "quoted", "news", "story", "policy", "opposed", "lookalike", "rude"})
"""The kinds of twins that attack nobody; those in ATTACKS attack their group."""
EACH_LANGUAGE = 300
"""Wordings that stand in for posts, in each language other than English, as none of these has labelled posts."""

HARMLESS = 80
"""Most sentences that attack nobody in each language, besides those of `harmless.toml`."""


@dataclass(frozen=True)
class Post:
    """A text to learn from: the kind of its attack (None: it attacks nobody), and the claims that it makes.

    `labelled` is set for posts whose labels were read from the text; the others are sentences of our own. `wording` is
    the number of a wording that stands in for a post.
    """

    text: str
    kind: AttackKind | None
    claims: frozenset[str]
    language: str = DEFAULT
    labelled: bool = True
    wording: int | None = None
    id: str = ""


@dataclass(frozen=True)
class Twin:
    """A post of our own that makes claims on file, or a near twin of one that makes none.

    `kind` says what it is: `makes`, `odd` (it attacks the group, but by nothing on file), or what makes it harmless.
    """

    text: str
    group: TargetGroup
    language: str
    kind: str
    claims: frozenset[str]

    @property
    def hateful(self) -> bool:
        """Whether it attacks the group."""
        return self.kind in ATTACKS

    @property
    def part(self) -> Part:
        """Its part: training or report."""
        return Part.REPORT if zlib.crc32(self.text.encode()) % HELD_OUT_OF == 0 else Part.TRAIN


def read_labelled(data: Path, labels: Path = LABELS) -> list[Post]:
    """Return the labelled posts whose texts are in the data sets under `data`."""
    texts = texts_by_id(data)
    rows = [line.split("\t") for line in labels.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [
        Post(
            normalise(texts[key])[:LONGEST_READ],
            None if kind == "none" else AttackKind(kind),
            frozenset(name for name in names.split(",") if name and name != "-"),
            id=key,
        )
        for key, kind, names in rows
        if key in texts
    ]


def read_twins() -> list[Twin]:
    """Return the posts of our own that do, and that don't, make a claim on file."""
    rows = [line.split("\t") for line in TWINS.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [
        Twin(
            normalise(text)[:LONGEST_READ],
            TargetGroup(group),
            language,
            kind,
            frozenset(name for name in claims.split(",") if name != "-"),
        )
        for group, language, kind, claims, text in rows
    ]


def wordings_as_posts(files: ClaimFiles, wordings: list[Wording]) -> list[Post]:
    """Return EACH_LANGUAGE wordings of each language but English as posts, the same in every run."""
    drawn = np.random.default_rng(0)
    posts = []
    for language in LANGUAGES:
        numbers = [number for number, wording in enumerate(wordings) if wording.language == language]
        for number in sorted(drawn.choice(numbers, EACH_LANGUAGE, replace=False)) if language != DEFAULT else ():
            claim = files.claims[wordings[number].claim]
            text = wordings[number].text
            key = f"wording:{number}"
            posts.append(Post(text, claim.kind, frozenset({claim.id}), language, False, int(number), key))
    return posts


def harmless() -> list[Post]:
    """Return some of the project's own sentences that attack nobody, in the languages on file."""
    sentences = [*read_written(), *(sample for sample in read_functional() if sample.part is Part.TRAIN)]
    everyday = tomllib.loads(OWN_HARMLESS.read_text("utf-8"))
    posts = []
    for language in LANGUAGES:
        kind = [sample.text for sample in sentences if sample.hateful is False and sample.language == language]
        drawn = np.random.default_rng(0).permutation(len(kind))[:HARMLESS]
        texts = [*(kind[n] for n in sorted(drawn)), *everyday.get(language, ())]
        posts += [
            Post(normalise(text), None, frozenset(), language, labelled=False, id=f"harmless:{language}-{n}")
            for n, text in enumerate(texts)
        ]
    return posts


def groups_of(text: str, vector: np.ndarray[tuple[int], np.dtype[np.float32]], heads: Heads) -> list[TargetGroup]:
    """Return the groups that triage would find attacked."""
    return [score.group for score in heads.score(vector, text).attacked(TriageSettings().group_threshold)]
