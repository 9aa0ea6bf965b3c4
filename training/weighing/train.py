"""Fit the weights with which the guard's checks are weighed, and write them with their card.

Needs scikit-learn (the `dev` extra), and the fetched model.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from core.domain import Check
from core.settings import GuardSettings, Settings
from evaluation.redteam import sheets
from evaluation.redteam.sheets import LabelledDraft
from pipeline.guard import Guard
from pipeline.guard.material import material
from pipeline.guard.pair_reader import LANGUAGES
from pipeline.guard.weighing import FILE, FLAGS, READERS, WEAKEST, Weights, firm_failures, readings
from rejoinder.guard_assembly import open_drafting_guard

CARD = "weighing.md"
REREAD, LAYERS = "reread", "layers"
"""The two sets of weights: where the larger model reads too, and where it does not."""
SHRINKAGE = 10.0
"""Strength with which weights are drawn to 0 (the inverse of scikit-learn's C)."""


@dataclass(frozen=True)
class Judged:
    """A labelled draft of a set, with the results of all checks, none of them weighed."""

    name: str
    draft: LabelledDraft
    checks: tuple[Check, ...]
    reread: bool
    """Whether the larger model read it too."""


def train_and_write(out: Path) -> str:
    """Fit the weights on drafts, write `weighing.toml` and its card into `out`, and return the card."""
    judged = asyncio.run(_judged())
    weights = {name: fit([each for each in judged if _learns(each, name)]) for name in (REREAD, LAYERS)}
    path = out / FILE
    path.write_text(_as_toml(weights), encoding="utf-8")
    card = _card(judged, weights, hashlib.sha256(path.read_bytes()).hexdigest())
    path.with_name(CARD).write_text(card, encoding="utf-8")
    return card


async def _judged() -> list[Judged]:
    drafts = [("sheets", draft) for draft in sheets.red_team()]
    drafts += [(name, draft) for name in (*sheets.LEARNED, *sheets.FRESH) for draft in sheets.fresh(name)]
    read_twice = [(name, draft) for name, draft in drafts if draft.line.language in LANGUAGES]
    return [*await _by_checks(read_twice, reread=True), *await _by_checks(drafts, reread=False)]


async def _by_checks(drafts: Iterable[tuple[str, LabelledDraft]], *, reread: bool) -> list[Judged]:
    settings = Settings(guard=GuardSettings(reread=reread))
    async with open_drafting_guard(settings) as guard:
        return [Judged(name, draft, await _all_checks(guard, draft), reread) for name, draft in drafts]


async def _all_checks(guard: Guard, draft: LabelledDraft) -> tuple[Check, ...]:
    """Return the results of all checks, also of those that a failure before them would have spared."""
    context = draft.line.context()
    reply = material(draft.line.draft, context)
    return tuple([(await check.check_many([reply], context))[0] for check in (*guard.cheap, *guard.costly)])


def _learns(judged: Judged, name: str) -> bool:
    """Tell whether weights are fitted to a draft: only readers stop it firmly, and it is not kept for a report."""
    learned = judged.name in sheets.LEARNED or judged.draft.tuning
    others = (check for check in judged.checks if check.name not in READERS)
    return learned and judged.reread == (name == REREAD) and not firm_failures(others)


def fit(judged: Sequence[Judged]) -> Weights:
    """Return the weights that tell good drafts from bad ones by logistic regression."""
    rows = np.array([_features(each.checks) for each in judged])
    scaler = StandardScaler().fit(rows)
    good = [each.draft.good for each in judged]
    model = LogisticRegression(C=1 / SHRINKAGE, max_iter=3000).fit(scaler.transform(rows), good)
    weights = model.coef_[0] / scaler.scale_
    bias = float(model.intercept_[0] - weights @ scaler.mean_)
    by_name = dict(zip((*READERS, WEAKEST, *FLAGS), (round(float(weight), 3) for weight in weights), strict=True))
    return Weights(
        round(bias, 3),
        {name: by_name[name] for name in (*READERS, WEAKEST)},
        # No failure speaks for a reply; where the drafts say so, it is by chance.
        {name: min(by_name[name], 0.0) for name in FLAGS},
    )


def _features(checks: Sequence[Check]) -> list[float]:
    results = {check.name: check for check in checks}
    read = readings({name: results[name].value for name in READERS})
    return [*read.values(), *(float(not results[name].passed) for name in FLAGS)]


def _as_toml(weights: dict[str, Weights]) -> str:
    lines = [
        "# The weights of the guard's checks for the log odds that a reply is fit to show. Written by",
        "# `rejoinder train weighing`; do not edit. What they were fitted to stands in weighing.md.",
    ]
    for name, entry in weights.items():
        lines += ["", f"[{name}]", f"bias = {entry.bias}"]
        for part, values in (("readers", entry.readers), ("failures", entry.failures)):
            lines += ["", f"[{name}.{part}]", *(f"{check} = {weight}" for check, weight in values.items())]
    return "\n".join(lines) + "\n"


def _card(judged: Sequence[Judged], weights: dict[str, Weights], digest: str) -> str:
    settings = GuardSettings()
    limits = {REREAD: settings.reread_min_overall, LAYERS: settings.min_overall}
    learned = {name: sum(_learns(each, name) for each in judged) for name in (REREAD, LAYERS)}
    rows = "\n".join(_rows(judged, weights, limits))
    table = "\n".join(
        f"| {name} | {' | '.join(f'{_weight(entry, name):.2f}' for entry in weights.values())} |"
        for name in (*READERS, WEAKEST, *FLAGS)
    )
    stopped_under = {f"{name}_limit": limit for name, limit in limits.items()}
    return _TEXT.format(digest=digest, rows=rows, table=table, **learned, **stopped_under)


def _weight(entry: Weights, name: str) -> float:
    return {**entry.readers, **entry.failures}[name]


def _rows(judged: Sequence[Judged], weights: dict[str, Weights], limits: dict[str, float]) -> Iterator[str]:
    """Yield a row for each set, kind of weights, and language: bad and good drafts stopped, one by one and weighed."""
    for name in ("sheets", *sheets.LEARNED, *sheets.FRESH):
        for kind, languages in ((REREAD, ("en",)), (LAYERS, ("en",)), (LAYERS, ("es", "it", "eu"))):
            of_set = [
                each for each in judged
                if each.name == name and each.reread == (kind == REREAD) and each.draft.line.language in languages
                and not each.draft.tuning
            ]  # fmt: skip
            cells = [
                _stopped([each for each in of_set if each.draft.good == good], weights[kind], limits[kind], weighed)
                for weighed in (False, True)
                for good in (False, True)
            ]
            learned = ", learned from" if name in sheets.LEARNED else ""
            if of_set:
                yield f"| {name}{learned} | {kind} | {', '.join(languages)} | {' | '.join(cells)} |"


def _stopped(judged: Sequence[Judged], weights: Weights, limit: float, weighed: bool) -> str:
    stopped = sum(_is_stopped(each.checks, weights, limit) if weighed else _fails(each.checks) for each in judged)
    return f"{stopped} of {len(judged)}"


def _is_stopped(checks: Sequence[Check], weights: Weights, limit: float) -> bool:
    if firm_failures(checks):
        return True
    read = {check.name: check.value for check in checks if check.name in READERS}
    failures = [check.name for check in checks if check.name in FLAGS and not check.passed]
    return weights.probability(read, failures) < limit


def _fails(checks: Sequence[Check]) -> bool:
    return any(check.hard and not check.passed for check in checks)


_TEXT = """# Weighing of the guard's checks

The weights with which readers of pairs and checks by words come to one probability that a reply is fit to show: a
logistic regression. Written by `rejoinder train weighing`; do not edit. sha256 `{digest}`

**For**: replies with sentences that a model wrote, judged by `guard.judge = "head"`, with evidence in the reply's
language. **Not for**: sentences on file and moderators' own texts; figures, names, exchanged words, form, agreement,
insults, toxicity and repetitions, about which checks decide by themselves; acting without a person.

## Fitted to drafts

`reread` to {reread}, in English, that the larger model read too; `layers` to {layers}, in all languages, that it did
not: half of the red team's sheets (`evaluation/redteam`) and its earlier sets, without those that something but a
reader stops firmly. Language models wrote and labelled them.

| weight | reread | layers |
|---|--:|--:|
{table}

Those of `opposes`, `grounded` and `weakest`, the lower of both, are of log odds, the others of failures.

## Measured: drafts stopped, by each check alone and weighed

Stopped when weighed: a failure that can't be outweighed, or a probability under {layers_limit} (`guard.min_overall`),
with `reread` under {reread_limit} (`guard.reread_min_overall`).

| set | weights | languages | bad, alone | good, alone | bad, weighed | good, weighed |
|---|---|---|--:|--:|--:|--:|
{rows}

Nothing was fitted to the rows that don't say so (of the sheets, the half kept for the report). The twelfth set was
counted for three candidates, among which the sets that were learned from decided, each weighed by the others.

## Limits

A few hundred drafts of a few writers decide about nine weights. What no reader and no list of words sees, weighing
does not see either.
"""
