"""Measure what the reader of threats adds, and write its card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from core.settings import TriageSettings
from models.embed import Vectors
from pipeline.second_opinion import THREAT, joint
from pipeline.threat_reader import REREAD_FROM
from training.heads.sample import Part
from training.post_layers.lessons import Lesson

Mask = NDArray[np.bool_]

ALARMS = 0.03
FEWEST = 15
"""Fewest threats behind a row."""

CARD = """# Reader of threats

all-mpnet-base-v2 (110 million parameters, English, Apache-2.0), tuned by low-rank adapters (LoRA, rank 16, in all
layers), and a linear head that tells whether a post threatens people, urges violence or wishes it on them. Written on
{day} by `rejoinder train threat-reader`; do not edit. sha256 `{digest}`

**For**: reading English posts again whose first opinion (that of the threat head and the layers for posts together) is
{low} or more: {share:.0%} of real posts and flags that training never saw. The first opinion's log odds count for
{of_first}, the model's for the rest; this was chosen among 0.2, 0.35, 0.5 and 0.65 with the figures below in view.
**Not for**: judging how serious a threat is, or reporting anybody. A post that it misses gets a draft, which a
moderator still reads.

## Trained on {count:,} posts, {threats:,} of them threats

| source | threats | others |
|---|--:|--:|
{taught}

They are the English ones of the layers for posts ([card](../../models/data/e5_posts.md)) that are labelled for threats;
what else is known of them, whether they are hateful and whom they attack, was learned beside. The sources are described
[there](threat.md).

## Measured on {unseen:,} posts that training never saw

Threats caught at {alarms:.0%} alarms among the posts of the same source, whatever limit that takes, by each opinion and
by both, as in service. Below: what is caught, and the alarms, at the limit of triage (`triage.threat_from`).

| source | threats | others | AUC, first | AUC, both | caught, first | caught, model alone | caught, both |
|---|--:|--:|--:|--:|--:|--:|--:|
{measured}

At the limit of {limit}:

| source | caught, first | alarms, first | caught, both | alarms, both |
|---|--:|--:|--:|--:|
{at_the_limit}

How the opinions are scaled was chosen on {calibrated} posts ("unseen", calibration part), apart from those above.

By kind, at the limit:

| kind | threats | caught | | kind | others | alarms |
|---|--:|--:|---|---|--:|--:|
{kinds}

## Limits

English only: a post in another language keeps its first opinion. One reader labelled most threats. Of a long post, the
first four windows of 94 tokens are read, and the one most like a threat counts; longer posts can only become more
likely to be threats. Emoji are unknown to the vocabulary.
"""


@dataclass(frozen=True)
class Outcome:
    """Both opinions on lessons that were kept apart: probabilities and log odds, and how they are weighed."""

    lessons: Sequence[Lesson]
    firsts: Vectors
    seconds: Vectors
    shares: Vectors

    @property
    def both(self) -> Vectors:
        """Return the probabilities as in service, shape (lessons,)."""
        of_first, of_second, constant = map(float, self.shares)
        return np.array(
            [
                joint(first, second, of_first, of_second, constant) if first >= REREAD_FROM else first
                for first, second in zip(self.firsts.tolist(), self.seconds.tolist(), strict=True)
            ]
        )


def write_card(taught: Sequence[Lesson], outcome: Outcome, digest: str) -> str:
    """Return the card."""
    reported = np.array([lesson.part is not Part.CALIBRATE for lesson in outcome.lessons])
    limit = TriageSettings().threat_from
    real = np.array([lesson.origin in {"unseen", "flagged posts"} for lesson in outcome.lessons])
    again = outcome.firsts >= REREAD_FROM
    return CARD.format(
        day=datetime.now(UTC).date(),
        digest=digest,
        low=REREAD_FROM,
        of_first=f"{float(outcome.shares[0] / outcome.shares[:2].sum()):.2f}",
        share=float(again[real].mean()),
        count=len(taught),
        threats=sum(_threatens(lesson) for lesson in taught),
        taught="\n".join(_taught(taught)),
        unseen=int(reported.sum()),
        calibrated=int((~reported).sum()),
        alarms=ALARMS,
        limit=limit,
        measured="\n".join(_measured(outcome, reported)),
        at_the_limit="\n".join(_at_the_limit(outcome, reported, limit)),
        kinds="\n".join(_kinds(outcome, reported, limit)),
    )


def caught(truth: Mask, scores: Vectors, alarms: float = ALARMS) -> float:
    """Return the share of threats over the lowest score at which at most `alarms` of the others are."""
    others = np.sort(scores[~truth])[::-1]
    limit = others[int(alarms * len(others))]
    return float((scores[truth] > limit).mean())


def _threatens(lesson: Lesson) -> bool:
    return lesson.opinions[THREAT][0]


def _taught(lessons: Sequence[Lesson]) -> Iterator[str]:
    counts = Counter((lesson.origin, _threatens(lesson)) for lesson in lessons)
    for origin in sorted({lesson.origin for lesson in lessons}):
        yield f"| {origin} | {counts[origin, True]:,} | {counts[origin, False]:,} |"


def _sources(outcome: Outcome, reported: Mask) -> Iterator[tuple[str, list[int], Mask]]:
    """Yield each source with its rows and which of them are threats, and all together; those with enough threats."""
    origins = sorted({lesson.origin for lesson in outcome.lessons})
    for origin in ("all", *origins):
        rows = [row for row, each in enumerate(outcome.lessons) if reported[row] and origin in ("all", each.origin)]
        truth = np.array([_threatens(outcome.lessons[row]) for row in rows], np.bool_)
        if truth.sum() >= FEWEST and (~truth).sum() >= FEWEST:
            yield origin, rows, truth


def _measured(outcome: Outcome, reported: Mask) -> Iterator[str]:
    for origin, rows, truth in _sources(outcome, reported):
        first, alone, both = outcome.firsts[rows], outcome.seconds[rows], outcome.both[rows]
        aucs = (float(roc_auc_score(truth, scores)) for scores in (first, both))
        shares = [*aucs, *(caught(truth, scores) for scores in (first, alone, both))]
        cells = " | ".join(f"{share:.3f}" for share in shares)
        yield f"| {origin} | {int(truth.sum()):,} | {int((~truth).sum()):,} | {cells} |"


def _at_the_limit(outcome: Outcome, reported: Mask, limit: float) -> Iterator[str]:
    for origin, rows, truth in _sources(outcome, reported):
        shares = [
            float((scores[rows][of] >= limit).mean())
            for scores in (outcome.firsts, outcome.both)
            for of in (truth, ~truth)
        ]
        yield f"| {origin} | {' | '.join(f'{share:.3f}' for share in shares)} |"


def _kinds(outcome: Outcome, reported: Mask, limit: float) -> Iterator[str]:
    over = outcome.both >= limit
    columns = []
    for threatens in (True, False):
        rows = [
            row for row, each in enumerate(outcome.lessons) if reported[row] and each.label and
            _threatens(each) is threatens
        ]  # fmt: skip
        names = Counter(f"{outcome.lessons[row].origin}: {outcome.lessons[row].label}" for row in rows)
        cells = []
        for name, count in sorted(names.items()):
            if count < FEWEST:
                continue
            of_kind = [row for row in rows if f"{outcome.lessons[row].origin}: {outcome.lessons[row].label}" == name]
            cells.append(f"{name} | {count} | {over[of_kind].mean():.2f}")
        columns.append(cells)
    for row in range(max(map(len, columns))):
        left, right = (cells[row] if row < len(cells) else "| |" for cells in columns)
        yield f"| {left} | | {right} |"
