"""What a text of the training data is, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.domain import TargetGroup

EVERY = frozenset(TargetGroup)
NOBODY: frozenset[TargetGroup] = frozenset()


class Part(StrEnum):
    """What a sample serves for, those least like training first: what is reserved is used by others alone."""

    RESERVED = "reserved"
    REPORT = "report"
    CALIBRATE = "calibrate"
    TRAIN = "train"


@dataclass(frozen=True)
class Sample:
    """One text and what is known about it.

    `groups` are those it attacks, `judged` those of which the data say whether it does. `hateful` and `counter` are
    None where the data don't tell. `kind` is what makes a written sentence hard, `label` the flagged posts' own one.
    Samples of one `family` (a template, a claim, a pair of variants) are never on both sides of a split.
    """

    text: str
    origin: str
    groups: frozenset[TargetGroup] = NOBODY
    judged: frozenset[TargetGroup] = NOBODY
    hateful: bool | None = None
    counter: bool | None = None
    part: Part = Part.TRAIN
    label: str = ""
    kind: str = ""
    language: str = "en"
    family: str = ""
