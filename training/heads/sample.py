"""A text of the heads' data with its labels, and the parts into which the data are split."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.domain import TargetGroup

EVERY = frozenset(TargetGroup)
NOBODY: frozenset[TargetGroup] = frozenset()


class Part(StrEnum):
    """The use of a sample, ordered from the furthest from training; reserved ones belong to other measurements."""

    RESERVED = "reserved"
    REPORT = "report"
    CALIBRATE = "calibrate"
    TRAIN = "train"


@dataclass(frozen=True)
class Sample:
    """One text and its labels.

    `groups` are the groups it attacks, `judged` those for which the data say whether it does. `hateful` and `counter`
    are None if the data don't say. `kind` is what makes a written sentence hard, `label` a flagged post's original
    label. Samples of one `family` (a template, a claim, a pair of variants) are never on both sides of a split.
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
