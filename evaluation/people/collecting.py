"""Read the raters' answers, and compute means with intervals, agreement, and each rater's bias."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import interval_distance

from core.domain import Record
from core.spreadsheets import TextLines, read_rows
from evaluation.people.questions import QUESTIONS
from evaluation.significance import interval

REQUIRED = ("rater", "item")
_LIMITS = {question.name: (question.lowest, question.highest) for question in QUESTIONS}


class Rating(Record):
    """One rater's answer to one question about one item of the form."""

    rater: str
    item: str
    question: str
    value: int


@dataclass
class Returned:
    """The usable answers, and a sentence for each answer or row that can't be used."""

    ratings: list[Rating] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


def read_ratings(paths: Iterable[Path], items: Mapping[str, Any]) -> Returned:
    """Return the answers in files; raises BadInput for a file without the columns `rater` and `item`.

    If a rater answers the same question about an item twice, the last answer counts. Blank answers are skipped.
    """
    returned = Returned()
    answers: dict[tuple[str, str, str], Rating] = {}
    for path in paths:
        with path.open("rb") as file:
            for line, row in read_rows(TextLines(file), path, REQUIRED):
                for rating in _row_ratings(row, items, f"{path.name}, line {line}", returned.complaints):
                    answers[rating.rater, rating.item, rating.question] = rating
    returned.ratings = list(answers.values())
    return returned


def _row_ratings(row: dict[str, str], items: Mapping[str, Any], where: str, complaints: list[str]) -> Iterator[Rating]:
    rater, item = row["rater"].strip(), row["item"].strip()
    answered = any(row.get(name, "").strip() for name in _LIMITS)
    if not answered:
        return
    if not rater or item not in items:
        complaints.append(f"{where}: {'no rater' if not rater else f'no item {item!r} in this form'}")
        return
    for name, (lowest, highest) in _LIMITS.items():
        text = row.get(name, "").strip()
        if not text:
            continue
        if not text.isdecimal() or not lowest <= int(text) <= highest:
            complaints.append(f"{where}: {name} is {text[:20]!r}, not {lowest} to {highest}")
            continue
        yield Rating(rater=rater, item=item, question=name, value=int(text))


def inattentive(ratings: Sequence[Rating], key: Mapping[str, Mapping[str, str]]) -> set[str]:
    """Return the raters who failed an attention check."""
    return {
        rating.rater
        for rating in ratings
        if "check" in key[rating.item] and rating.value != _LIMITS[rating.question][1]
    }


def summarise(ratings: Sequence[Rating], key: Mapping[str, Mapping[str, str]], seed: int) -> dict[str, Any]:
    """Return means by system and question, Krippendorff's alpha, and each rater's bias, without inattentive raters."""
    careless = inattentive(ratings, key)
    counted = [rating for rating in ratings if rating.rater not in careless and "check" not in key[rating.item]]
    by_question: dict[str, list[Rating]] = defaultdict(list)
    for rating in counted:
        by_question[rating.question].append(rating)
    systems = sorted({key[rating.item]["system"] for rating in counted})
    return {
        "inattentive": sorted(careless),
        "questions": {name: {"alpha": alpha(by_question[name])} for name in _LIMITS if name in by_question},
        "systems": {system: _means(system, by_question, key, seed) for system in systems},
        "raters": {
            rater: {
                "ratings": sum(rating.rater == rater for rating in counted),
                "bias": {name: bias(rater, by_question[name]) for name in _LIMITS if name in by_question},
            }
            for rater in sorted({rating.rater for rating in counted})
        },
    }


def _means(
    system: str, by_question: Mapping[str, Sequence[Rating]], key: Mapping[str, Mapping[str, str]], seed: int
) -> dict[str, dict[str, float]]:
    """Return a system's mean for each question, taken over items after averaging each item over its raters."""
    means: dict[str, dict[str, float]] = {}
    for name, ratings in by_question.items():
        by_item: dict[str, list[int]] = defaultdict(list)
        for rating in ratings:
            if key[rating.item]["system"] == system:
                by_item[rating.item].append(rating.value)
        if by_item:
            spread = interval([fmean(values) for values in by_item.values()], seed)
            figures = {"mean": spread.mean, "low": spread.low, "high": spread.high}
            means[name] = {figure: round(value, 4) for figure, value in figures.items()} | {"items": len(by_item)}
    return means


def alpha(ratings: Sequence[Rating]) -> float | None:
    """Return Krippendorff's alpha (interval scale); None if no two raters share an item or all answers are equal."""
    raters = Counter(rating.item for rating in ratings)
    shared = [(rating.rater, rating.item, rating.value) for rating in ratings if raters[rating.item] > 1]
    if len({value for _, _, value in shared}) < 2:
        return None
    return round(float(AnnotationTask(data=shared, distance=interval_distance).alpha()), 4)


def bias(rater: str, ratings: Sequence[Rating]) -> float | None:
    """Return the mean of a rater's answers minus the others' on the same items; None if nobody else rated them."""
    others: dict[str, list[int]] = defaultdict(list)
    for rating in ratings:
        if rating.rater != rater:
            others[rating.item].append(rating.value)
    differences = [
        rating.value - fmean(others[rating.item])
        for rating in ratings
        if rating.rater == rater and rating.item in others
    ]
    return round(fmean(differences), 4) if differences else None
