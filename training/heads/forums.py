"""Read posts of rough forums that were labelled for threats, attacks and groups (`forums.tsv`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.domain import TargetGroup
from evaluation.evidence.yardstick import texts_by_id

LABELS = Path(__file__).with_name("forums.tsv")
HATE, NO_ATTACK = "hate", "none"


@dataclass(frozen=True)
class ForumPost:
    """One post: whether it threatens (None: unclear), how it attacks (`hate`, `offence`, `none`), and whom."""

    id: str
    text: str
    threat: bool | None
    attack: str
    groups: frozenset[TargetGroup]


def read_forums(data: Path) -> Iterator[ForumPost]:
    """Yield the labelled posts, with their texts from the data sets under `data`."""
    texts = texts_by_id(data)
    for line in LABELS.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        post, threat, attack, groups = line.split("\t")
        named = frozenset(TargetGroup(group) for group in groups.split(",") if group != "-")
        yield ForumPost(post, texts[post], {"threat": True, "none": False}.get(threat), attack, named)
