"""Write the card of the layers for posts: their training data, and the figures of first, second and joint opinions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from core.domain import TargetGroup
from core.settings import TriageSettings
from kb.claims.records import LANGUAGES
from kb.claims.second_opinion import ClaimOpinion, log_odds
from models.embed import Vectors
from pipeline.heads import HATE
from pipeline.second_opinion import THREAT, SecondOpinion
from training.heads.data import ADVERSARIAL, REAL
from training.heads.sample import Part
from training.heads.written import FUNCTIONAL
from training.post_layers.lessons import CLAIM_TWINS, OWN_POSTS, UNSEEN_ORIGIN, Lesson
from training.post_layers.opinions import First
from training.post_layers.reliability import reliability_rows

ALARMS = 0.03
"""The share of harmless texts called threats at which the card compares how many threats are caught."""
GROUPS = tuple(TargetGroup)
FEWEST = 5
"""Fewest posts of a group that counts in macro-F1."""
Rows = Sequence[int]


@dataclass(frozen=True)
class Outcome:
    """The lessons outside training, with their first opinions, readings and second opinions.

    `asked` says of each whether the second opinion counts in service; None: always.
    """

    lessons: Sequence[Lesson]
    firsts: Sequence[First]
    readings: Vectors
    opinion: SecondOpinion
    claims: ClaimOpinion
    asked: NDArray[np.bool_] | None = None

    @cached_property
    def first(self) -> Vectors:
        """Log odds of the first opinion, shape (n, names)."""
        return log_odds(np.array([[each.opinions[name] for name in self.opinion.names] for each in self.firsts]))

    @cached_property
    def second(self) -> Vectors:
        """Log odds of the second opinion alone, shape (n, names)."""
        return np.asarray(self.readings @ self.opinion.weights.T + self.opinion.bias, np.float32)

    @cached_property
    def together(self) -> Vectors:
        """Log odds of both opinions together, as in service, shape (n, names)."""
        of_first, of_second, constant = self.opinion.shares.T
        both = np.asarray(of_first * self.first + of_second * self.second + constant, np.float32)
        return both if self.asked is None else np.where(self.asked[:, np.newaxis], both, self.first)

    def counts(self, row: int) -> bool:
        """Tell whether the second opinion counts for a lesson in service."""
        return self.asked is None or bool(self.asked[row])

    def rows(self, holds: Callable[[Lesson], bool]) -> list[int]:
        """Return the numbers of the lessons for which a condition holds."""
        return [number for number, lesson in enumerate(self.lessons) if holds(lesson)]

    def truth(self, rows: Rows, name: str) -> NDArray[np.bool_]:
        """Return the right answers of some lessons for the head `name`."""
        return np.array([self.lessons[row].opinions[name][0] for row in rows], np.bool_)

    def each(self, name: str, rows: Rows) -> list[Vectors]:
        """Return the log odds of the first, the second and the joint opinion for the head `name`."""
        column = self.opinion.names.index(name)
        return [table[rows, column] for table in (self.first, self.second, self.together)]


def write_card(taught: Sequence[Lesson], outcome: Outcome, digests: Mapping[str, str]) -> str:
    """Return the card as Markdown."""
    template = files("training").joinpath("post_layers/card.md").read_text("utf-8")
    origins = Counter(lesson.origin for lesson in taught)
    settings = TriageSettings()
    everything = range(len(outcome.lessons))
    return template.format(
        date=date.today().isoformat(),
        doubt_below=settings.doubt_below,
        threat_from=settings.threat_from,
        digests="\n".join(f"- `{path}`: `{digest}`" for path, digest in digests.items()),
        texts=f"{len(taught):,}",
        origins="\n".join(f"| {origin} | {count:,} |" for origin, count in sorted(origins.items())),
        opinions="\n".join(opinion_rows(outcome)),
        limits="\n".join(limit_rows(outcome)),
        claims="\n".join(claim_rows(outcome)),
        reliability="\n".join(reliability_rows(outcome.lessons, _probability(outcome.each(HATE, everything)[2]))),
    )


def opinion_rows(outcome: Outcome) -> Iterator[str]:
    """Yield the rows on heads: what is measured, on how many texts, and by the first, the second and both opinions."""
    for part in (Part.CALIBRATE, Part.REPORT):
        flags = outcome.rows(lambda each, part=part: each.origin == REAL and each.part is part)  # type: ignore[misc]
        name = f"flagged posts, {part.value} half"
        grouped = [row for row in flags if outcome.truth([row], HATE)[0] and groups_attacked(outcome.lessons[row])]
        right = [_surest(outcome, says, grouped) for says in (outcome.first, outcome.second, outcome.together)]
        yield _row(f"{name}: the surest group is right", len(grouped), right)
        f1 = [_macro_f1(outcome, says, grouped) for says in (outcome.first, outcome.second, outcome.together)]
        yield _row(f"{name}: the same as macro-F1, posts with one group", len(grouped), f1)
        yield _row(f"{name}: hate or offence, AUC", len(flags), _aucs(outcome, HATE, flags))
    for origin in (ADVERSARIAL, FUNCTIONAL, CLAIM_TWINS, OWN_POSTS):
        rows = _asked(outcome, origin, HATE)
        yield _row(f"{origin}: hate, AUC", len(rows), _aucs(outcome, HATE, rows))
    for origin in dict.fromkeys(lesson.origin for lesson in outcome.lessons if THREAT in lesson.opinions):
        rows = _asked(outcome, origin, THREAT)
        truth = outcome.truth(rows, THREAT)
        # The unseen posts calibrate threats, so figures on them would flatter.
        if truth.any() and not truth.all() and origin != UNSEEN_ORIGIN:
            yield _row(f"{origin}: threats, AUC", len(rows), _aucs(outcome, THREAT, rows))
            says = outcome.each(THREAT, rows)
            caught = [float((say[truth] > np.quantile(say[~truth], 1 - ALARMS)).mean()) for say in says]
            yield _row(f"{origin}: threats caught at {ALARMS:.0%} alarms", int(truth.sum()), caught)


def limit_rows(outcome: Outcome) -> Iterator[str]:
    """Yield the rows on the limits of triage, by the first opinion and by both."""
    settings = TriageSettings()
    for part in (Part.CALIBRATE, Part.REPORT):
        for label in ("normal", "offensive", "hate"):
            flags = outcome.rows(lambda each, part=part: each.origin == REAL and each.part is part)  # type: ignore[misc]
            rows = [row for row in flags if outcome.lessons[row].label == label]
            doubted = [float((_probability(says) < settings.doubt_below).mean()) for says in outcome.each(HATE, rows)]
            yield _row(f"{part.value} half: {label} posts in doubt or dismissed", len(rows), doubted[::2])
    for origin in dict.fromkeys(lesson.origin for lesson in outcome.lessons if THREAT in lesson.opinions):
        rows = _asked(outcome, origin, THREAT)
        truth = outcome.truth(rows, THREAT)
        for which, name in ((truth, "threats escalated"), (~truth, "others escalated")):
            chances = [_probability(says[which]) for says in outcome.each(THREAT, rows)]
            passed = [float((each >= settings.threat_from).mean()) for each in chances]
            if which.any():
                yield _row(f"{origin}: {name}", int(which.sum()), passed[::2])


def threatens(lesson: Lesson) -> bool:
    """Tell whether a lesson is known to be a threat."""
    return lesson.opinions.get(THREAT, (False, 0.0))[0]


def _probability(logits: Vectors) -> Vectors:
    return np.asarray(1 / (1 + np.exp(-logits)), np.float32)


def _asked(outcome: Outcome, origin: str, name: str) -> list[int]:
    return outcome.rows(lambda lesson: lesson.origin == origin and name in lesson.opinions)


def claim_rows(outcome: Outcome, languages: Collection[str] = LANGUAGES) -> Iterator[str]:
    """Yield the rows on claims, as `opinion_rows`, for posts in these languages."""
    for title, origin, part, spoken in _CLAIMED:
        rows = outcome.rows(
            lambda each, origin=origin, part=part, spoken=spoken: (  # type: ignore[misc]
                each.origin == origin and each.part is part and each.claims is not None and each.language in spoken
            )
        )
        if not {*spoken} & {*languages}:
            continue
        making = [row for row in rows if outcome.lessons[row].claims]
        named = [_named(outcome, row) for row in making]
        for most in (1, 3):
            shares = [float(np.mean([any(hits[:most]) for hits in each])) for each in zip(*named, strict=True)]
            yield _row(f"{title}: a right claim among the first {most}", len(making), shares)
        judged = [row for row in rows if outcome.lessons[row].claims or not threatens(outcome.lessons[row])]
        truth = [bool(outcome.lessons[row].claims) for row in judged]
        says = zip(*(_gates(outcome, row) for row in judged), strict=True)
        aucs = [float(roc_auc_score(truth, each)) for each in says]
        yield _row(f"{title}: whether anything answers, AUC", len(judged), aucs)


_CLAIMED = (
    ("calibrate posts", UNSEEN_ORIGIN, Part.CALIBRATE, LANGUAGES),
    ("report posts", UNSEEN_ORIGIN, Part.REPORT, LANGUAGES),
    *(
        (f"{origin}, {language}", origin, Part.REPORT, (language,))
        for origin in (CLAIM_TWINS, OWN_POSTS)
        for language in LANGUAGES
    ),
)
"""The posts by which the claims are measured: what they are called, their origin, part and languages."""


def _named(outcome: Outcome, row: int) -> list[list[bool]]:
    first, reading = outcome.firsts[row].claims, outcome.readings[row]
    assert first is not None
    names, right = outcome.claims.claims, outcome.lessons[row].claims or frozenset()
    both = outcome.claims.probabilities(names, first, reading) if outcome.counts(row) else first
    tables = first, outcome.claims.shares(reading), both
    return [[names[place] in right for place in np.argsort(-table)[:3]] for table in tables]


def _gates(outcome: Outcome, row: int) -> tuple[float, float, float]:
    first, reading = outcome.firsts[row].answerable, outcome.readings[row]
    both = outcome.claims.gate(first, reading) if outcome.counts(row) else first
    return first, outcome.claims.answered(reading), both


def groups_attacked(lesson: Lesson) -> set[str]:
    """Return the names of the groups that a lesson is known to attack."""
    return {group.value for group in GROUPS if lesson.opinions.get(group.value, (False, 0.0))[0]}


def _surest(outcome: Outcome, table: Vectors, rows: Rows) -> float:
    named = zip(rows, surest_groups(outcome, table, rows), strict=True)
    return float(np.mean([name in groups_attacked(outcome.lessons[row]) for row, name in named]))


def surest_groups(outcome: Outcome, table: Vectors, rows: Rows) -> list[str]:
    """Return the likeliest group of some lessons by a table of log odds."""
    columns = [outcome.opinion.names.index(group.value) for group in GROUPS]
    return [GROUPS[place].value for place in table[np.ix_(rows, columns)].argmax(axis=1)]


def _macro_f1(outcome: Outcome, table: Vectors, rows: Rows) -> float:
    """Return the mean F1 of the groups with at least FEWEST posts."""
    single = [row for row in rows if len(groups_attacked(outcome.lessons[row])) == 1]
    truth = [next(iter(groups_attacked(outcome.lessons[row]))) for row in single]
    often = [group for group, count in Counter(truth).items() if count >= FEWEST]
    scores = precision_recall_fscore_support(
        truth, surest_groups(outcome, table, single), labels=often, average=None, zero_division=0
    )
    return float(np.mean(scores[2]))


def _aucs(outcome: Outcome, name: str, rows: Rows) -> list[float]:
    return [float(roc_auc_score(outcome.truth(rows, name), say)) for say in outcome.each(name, rows)]


def _row(what: str, count: int, figures: Sequence[float]) -> str:
    return f"| {what} | {count} | {' | '.join(f'{figure:.3f}' for figure in figures)} |"
