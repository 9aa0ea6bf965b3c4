"""Write the card of the reader of posts: what it was trained on, and what it adds to the first opinion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files

import numpy as np

from core.domain import Route, TargetGroup
from core.settings import TriageSettings
from kb.claims.second_opinion import ClaimOpinion
from models.embed import Vectors
from pipeline.heads import HATE, NAMES, Scores
from pipeline.post_reader import LANGUAGES, REREAD_HATE_FROM, REREAD_THREAT_FROM
from pipeline.routing_rules import decide
from pipeline.second_opinion import THREAT, SecondOpinion, log_odds
from training.heads.data import REAL
from training.heads.sample import Part
from training.post_layers.lessons import UNSEEN_ORIGIN, Lesson
from training.post_layers.model_card import (
    ALARMS,
    Outcome,
    claim_rows,
    groups_attacked,
    limit_rows,
    opinion_rows,
    surest_groups,
    threatens,
)
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
        routes="\n".join(_routes(outcome)),
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


def _routes(outcome: Outcome) -> Iterator[str]:
    """Yield a row for each group: its flags to report, what triage does with them, and how many get a wrong group."""
    settings, names = TriageSettings(), outcome.opinion.names
    for group in TargetGroup:
        rows = [
            row for row, lesson in enumerate(outcome.lessons)
            if lesson.origin == REAL and lesson.part is Part.REPORT and group.value in groups_attacked(lesson)
        ]  # fmt: skip
        if not rows:
            continue
        chances = 1 / (1 + np.exp(-outcome.together[rows]))
        routes = Counter(
            "escalate" if chance[names.index(THREAT)] >= settings.threat_from
            else str(decide(None, Scores.read(NAMES, chance[[names.index(name) for name in NAMES]]), settings).route)
            for chance in chances
        )  # fmt: skip
        named = zip(rows, surest_groups(outcome, outcome.together, rows), strict=True)
        wrong = sum(name not in groups_attacked(outcome.lessons[row]) for row, name in named)
        shares = (f"{routes[route.value] / len(rows):.2f}" for route in (Route.DRAFT, Route.DOUBT, Route.DISMISS))
        cells = [*shares, f"{routes['escalate'] / len(rows):.2f}", f"{wrong / len(rows):.2f}"]
        yield f"| {group.value} | {len(rows)} | {' | '.join(cells)} |"


def _kinds(outcome: Outcome, limit: float) -> Iterator[str]:
    """Yield rows with a kind of threat and the share caught, and a kind of others and the share of alarms.

    Threats are counted at the limit, and where ALARMS of the others of their origin would be called threats.
    """
    says = outcome.together[:, outcome.opinion.names.index(THREAT)]
    rows: dict[bool, dict[tuple[str, str], list[int]]] = {True: {}, False: {}}
    for row, lesson in enumerate(outcome.lessons):
        if THREAT in lesson.opinions and lesson.label and lesson.origin != UNSEEN_ORIGIN:
            rows[threatens(lesson)].setdefault((lesson.origin, lesson.label), []).append(row)
    columns: dict[bool, list[str]] = {True: [], False: []}
    for threat, cells in columns.items():
        for (origin, label), of_kind in sorted(rows[threat].items()):
            if len(of_kind) < FEWEST:
                continue
            shares = [float((says[of_kind] >= log_odds(limit)).mean())]
            if threat:
                others = [row for (of, _), own in rows[False].items() if of == origin for row in own]
                few = np.quantile(says[others], 1 - ALARMS) if others else np.nan
                shares.append(float((says[of_kind] > few).mean()))
            cells.append(f"{origin}: {label} | {len(of_kind)} | {' | '.join(f'{share:.2f}' for share in shares)}")
    for row in range(max(map(len, columns.values()))):
        left, right = (
            cells[row] if row < len(cells) else blank
            for cells, blank in zip(columns.values(), ("| | |", "| |"), strict=True)
        )
        yield f"| {left} | | {right} |"
