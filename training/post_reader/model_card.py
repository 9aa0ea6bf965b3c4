"""Write the card of the reader of posts: what it was trained on, and what it adds to the first opinion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files

import numpy as np

from core.settings import TriageSettings
from kb.claims.second_opinion import ClaimOpinion
from models.embed import Vectors
from pipeline.heads import HATE
from pipeline.post_reader import LANGUAGES, REREAD_HATE_FROM, REREAD_THREAT_FROM
from pipeline.second_opinion import THREAT, SecondOpinion, log_odds
from training.heads.data import REAL
from training.post_layers.lessons import UNSEEN_ORIGIN, Lesson
from training.post_layers.model_card import Outcome, claim_rows, limit_rows, opinion_rows, threatens
from training.post_layers.opinions import First

FEWEST = 15
"""Fewest texts behind a row by kind."""


def write_card(taught: Sequence[Lesson], outcome: Outcome, digests: Mapping[str, str]) -> str:
    """Return the card as Markdown."""
    assert outcome.asked is not None
    settings = TriageSettings()
    flags = [row for row, lesson in enumerate(outcome.lessons) if lesson.origin == REAL]
    origins = Counter(lesson.origin for lesson in taught)
    return files("training").joinpath("post_reader/card.md").read_text("utf-8").format(
        day=datetime.now(UTC).date(),
        digests="\n".join(f"- `{path}`: `{digest}`" for path, digest in digests.items()),
        hate_from=REREAD_HATE_FROM,
        threat_from=REREAD_THREAT_FROM,
        share=float(outcome.asked[flags].mean()),
        count=len(taught),
        threats=sum(threatens(lesson) for lesson in taught),
        origins="\n".join(f"| {origin} | {count:,} |" for origin, count in sorted(origins.items())),
        opinions="\n".join(opinion_rows(outcome)),
        doubt_below=settings.doubt_below,
        escalated_from=settings.threat_from,
        limits="\n".join(limit_rows(outcome)),
        kinds="\n".join(_kinds(outcome, settings.threat_from)),
        claims="\n".join(claim_rows(outcome, LANGUAGES)),
    )  # fmt: skip


def in_service(
    lessons: Sequence[Lesson], firsts: Sequence[First], readings: Vectors, opinion: SecondOpinion, claims: ClaimOpinion
) -> Outcome:
    """Return the outcome as in service, where posts that are surely harmless are not read again."""
    again = [
        first.opinions[HATE] >= REREAD_HATE_FROM or first.opinions[THREAT] >= REREAD_THREAT_FROM for first in firsts
    ]
    return Outcome(lessons, firsts, readings, opinion, claims, np.array(again, np.bool_))


def _kinds(outcome: Outcome, limit: float) -> Iterator[str]:
    """Yield rows with a kind of threat and how many are caught, and a kind of others and how many are alarms."""
    over = outcome.together[:, outcome.opinion.names.index(THREAT)] >= log_odds(limit)
    columns: dict[bool, list[str]] = {True: [], False: []}
    for threat, cells in columns.items():
        rows: dict[str, list[int]] = {}
        for row, lesson in enumerate(outcome.lessons):
            known = THREAT in lesson.opinions and lesson.label and lesson.origin != UNSEEN_ORIGIN
            if known and threatens(lesson) is threat:
                rows.setdefault(f"{lesson.origin}: {lesson.label}", []).append(row)
        for name, of_kind in sorted(rows.items()):
            if len(of_kind) >= FEWEST:
                cells.append(f"{name} | {len(of_kind)} | {over[of_kind].mean():.2f}")
    for row in range(max(map(len, columns.values()))):
        left, right = (cells[row] if row < len(cells) else "| |" for cells in columns.values())
        yield f"| {left} | | {right} |"
