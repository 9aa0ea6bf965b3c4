"""Measure the heads, and what triage makes of their scores, on texts that they were not trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from core.domain import Route, TargetGroup
from core.settings import TriageSettings
from pipeline.heads import COUNTER, HATE, NAMES, Scores
from pipeline.routing_rules import decide
from training.heads.data import ADVERSARIAL, REAL, REPLIES
from training.heads.sample import Part, Sample
from training.heads.written import FUNCTIONAL

Table = NDArray[np.float32]
Mask = NDArray[np.bool_]

GROUPS = tuple(TargetGroup)
LIMITS = (0.05, 0.08, 0.1, 0.2, 0.3, 0.35, 0.4, 0.42, 0.45, 0.5, 0.6)
BINS = 8


@dataclass(frozen=True)
class Measurement:
    """Samples outside training, with their probabilities of shape (n, heads) in the order of NAMES."""

    samples: Sequence[Sample]
    scores: Table

    def where(self, holds: Callable[[Sample], bool]) -> Mask:
        """Return a mask of the samples for which a condition holds."""
        return np.array([holds(sample) for sample in self.samples], np.bool_)

    @cached_property
    def hate(self) -> Table:
        """The hate probabilities."""
        return self.scores[:, NAMES.index(HATE)]

    @cached_property
    def counter(self) -> Table:
        """The probabilities of counterspeech."""
        return self.scores[:, NAMES.index(COUNTER)]

    @cached_property
    def hateful(self) -> Mask:
        """A mask of the samples that the data call hateful or offensive."""
        return self.where(lambda sample: sample.hateful is True)

    @cached_property
    def label(self) -> NDArray[np.str_]:
        """The flagged posts' own labels."""
        return np.array([sample.label for sample in self.samples])

    @cached_property
    def routes(self) -> NDArray[np.str_]:
        """Triage's route for each sample, by the default settings and the heads alone."""
        settings = TriageSettings()
        return np.array([decide(None, Scores.read(NAMES, row), settings).route.value for row in self.scores])

    def flags(self, part: Part) -> Mask:
        """Return a mask of the flagged posts of a part."""
        return self.where(lambda sample: sample.origin == REAL and sample.part is part)

    def of(self, origin: str) -> Mask:
        """Return a mask of the samples to report that come from `origin`."""
        return self.where(lambda sample: sample.origin == origin and sample.part is Part.REPORT)

    def auc(self, true: Mask, among: Mask, column: str = HATE) -> float:
        """Return a head's AUC: how often it scores a random `true` sample above another one of `among`."""
        return float(roc_auc_score(true[among], self.scores[among, NAMES.index(column)]))

    def share(self, route: Route, among: Mask) -> float:
        """Return the share of the samples in `among` that triage sends down a route; NaN if there are none."""
        return float((self.routes[among] == route.value).mean()) if among.any() else float("nan")


def group_rows(measured: Measurement, among: Mask, threshold: float) -> Iterator[str]:
    """Yield a row per group: the number of posts, precision, recall and F1 at the threshold, and AUC."""
    for column, group in enumerate(GROUPS):
        true = measured.where(lambda sample, group=group: group in sample.groups)[among]  # type: ignore[misc]
        score = measured.scores[among, column]
        precision, recall, f1, _ = precision_recall_fscore_support(
            true, score >= threshold, average="binary", zero_division=0
        )
        auc = f"{roc_auc_score(true, score):.3f}" if true.any() and not true.all() else "-"
        yield f"| {group.value} | {true.sum()} | {precision:.3f} | {recall:.3f} | {f1:.3f} | {auc} |"


def surest(measured: Measurement, among: Mask) -> tuple[float, float, int]:
    """Return how often the most probable group is right, macro-F1 over posts with one group, and how many posts."""
    picked = [
        (sample.groups, GROUPS[int(row[: len(GROUPS)].argmax())])
        for sample, row, used in zip(measured.samples, measured.scores, among, strict=True) if used and sample.groups
    ]  # fmt: skip
    right = float(np.mean([guess in true for true, guess in picked]))
    single = [(next(iter(true)), guess) for true, guess in picked if len(true) == 1]
    often = [group for group, count in Counter(true for true, _ in single).items() if count >= 5]
    f1 = precision_recall_fscore_support(*zip(*single, strict=True), labels=often, zero_division=0)[2]
    return right, float(np.mean(f1)), len(picked)


def route_rows(measured: Measurement, among: Mask) -> Iterator[str]:
    """Yield a row per group: the shares of its posts that are in doubt, dismissed, and assigned to a wrong group."""
    best = measured.scores[:, : len(GROUPS)].argmax(axis=1)
    for group in GROUPS:
        own = among & measured.where(lambda sample, group=group: group in sample.groups)  # type: ignore[misc]
        right = np.array([GROUPS[guess] in sample.groups for guess, sample in zip(best, measured.samples, strict=True)])
        wrong = float((~right[own]).mean()) if own.any() else float("nan")
        shares = measured.share(Route.DOUBT, own), measured.share(Route.DISMISS, own), wrong
        yield f"| {group.value} | {own.sum()} | {' | '.join(map(_percent, shares))} |"


def kind_rows(measured: Measurement, of: Callable[[Sample], str]) -> Iterator[str]:
    """Yield a row per kind, or language, of the functional sentences: the shares that triage sends down each route."""
    functional = measured.of(FUNCTIONAL)
    for hateful in (True, False):
        kinds = dict.fromkeys(of(s) for s, used in zip(measured.samples, functional, strict=True) if used)
        for kind in kinds:
            own = functional & (measured.hateful == hateful) & measured.where(lambda s, kind=kind: of(s) == kind)  # type: ignore[misc]
            if own.any():
                shares = (_percent(measured.share(route, own)) for route in (Route.DRAFT, Route.DOUBT, Route.DISMISS))
                yield f"| {kind} | {'hateful' if hateful else 'harmless'} | {own.sum()} | {' | '.join(shares)} |"


def limit_rows(measured: Measurement, among: Mask) -> Iterator[str]:
    """Yield a row per limit: the shares of flagged posts whose hate probability lies below it, by label."""
    for limit in LIMITS:
        kinds = [among & (measured.label == kind) for kind in ("hate", "offensive", "normal")]
        shares = (f"{(measured.hate[own] < limit).mean():.1%}" for own in (*kinds, among & measured.hateful))
        yield f"| {limit} | {' | '.join(shares)} |"


def reliability(measured: Measurement, among: Mask) -> list[tuple[float, float, int]]:
    """Return mean probability, share hateful and count for BINS equal parts of the posts, ordered by score."""
    order = np.flatnonzero(among)[np.argsort(measured.hate[among])]
    return [(float(measured.hate[part].mean()), float(measured.hateful[part].mean()), len(part))
            for part in np.array_split(order, BINS)]  # fmt: skip


def adversarial(measured: Measurement) -> Mask:
    """Return a mask of HatemojiBuild's test part."""
    return measured.of(ADVERSARIAL)


def replies(measured: Measurement) -> Mask:
    """Return a mask of the human counterspeech in CrowdCounter's test part."""
    return measured.of(REPLIES)


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:.1%}"
