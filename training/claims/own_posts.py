"""Read the posts of our own whose writers did not see the claims on file."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

from core.domain import AttackKind, TargetGroup
from pipeline.normalise import normalise
from pipeline.scoring import LONGEST_READ
from training.claims.data import HELD_OUT_OF
from training.heads.sample import Part

OWN_POSTS = Path(__file__).with_name("own_posts.tsv")
ODD = "odd"
"""The kind of an attack that no fact could answer."""


@dataclass(frozen=True)
class OwnPost:
    """A post of our own, labelled from its text: whom it attacks, how, and by which claims on file.

    `kind` is a value of `AttackKind`, ODD, or "-" if it attacks nobody.
    """

    text: str
    language: str
    groups: frozenset[TargetGroup]
    kind: str
    claims: frozenset[str]

    @property
    def hateful(self) -> bool:
        """Whether it attacks a group."""
        return bool(self.groups)

    @property
    def threatens(self) -> bool:
        """Whether it threatens, or calls for or wishes violence."""
        return self.kind == AttackKind.THREAT

    @property
    def attack(self) -> AttackKind | None:
        """How it attacks; None if it attacks nobody, or in a way that has no kind."""
        return AttackKind(self.kind) if self.hateful and self.kind != ODD else None

    @property
    def part(self) -> Part:
        """Its part: training or report."""
        return Part.REPORT if zlib.crc32(self.text.encode()) % HELD_OUT_OF == 0 else Part.TRAIN


def read_own_posts(path: Path = OWN_POSTS) -> list[OwnPost]:
    """Return the posts of a file, all of them."""
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [
        OwnPost(
            normalise(text)[:LONGEST_READ],
            language,
            frozenset(TargetGroup(group) for group in groups.split(",") if group != "-"),
            kind,
            frozenset(name for name in claims.split(",") if name != "-"),
        )
        for groups, language, kind, claims, text in rows
    ]
