"""The tables of a report, laid out as the papers print them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evaluation.records import REFERENCES
from evaluation.report.data import ScoredRun
from evaluation.report.document import Cell, Section, Table, number
from evaluation.significance import holm, interval, paired

LAYOUTS = (
    (
        "As Damo, Cabrio and Villata print it",
        ("bleu", "meteor", "rouge_l", "bertscore", "distinct_1", "distinct_2", "repetition", "safety"),
    ),
    ("As F2RL prints it", ("fa", "fa_best", "stance", "fc", "fe", "d")),
    (
        "As CoARL prints it",
        ("rouge_l", "meteor", "bertscore", "fc", "stance", "argument_quality", "safety", "coarl"),
    ),
    ("Beyond the papers", ("chrf", "counterspeech", "novelty_references", "novelty_earlier", "length", "truncated")),
)
SHARED_TASK = ("bleu", "chrf", "rouge_l", "bertscore", "novelty_references", "length")
TESTED = ("chrf", "rouge_l", "bertscore", "safety", "counterspeech", "argument_quality", "coarl", "fe")
"""Metrics of single drafts on which systems are tested against each other."""
ALPHA = 0.05
_WHOLE = {"length"}
_FEW = 10
"""Fewest drafts for which an interval is printed."""


def systems(scored: ScoredRun) -> Section:
    """Return how many drafts each system made: all, empty, passed by the guard, and by the fallback."""
    rows = tuple(
        (
            name,
            str(total["drafts"]),
            str(total["empty"]),
            "–" if name == REFERENCES else str(total["passes"]),
            "–" if name == REFERENCES else str(total["by_another"]),
        )
        for name, total in _ordered(scored)
    )
    header = ("system", "drafts", "empty", "pass the guard", "by the fallback")
    text = (
        "A system is strategy/model/retriever. A draft by the fallback is one that the system's own strategy could not "
        "make: its figures are the fallback's.",
        f"“{REFERENCES}” are the posts' first references, as if a system had written them. They are compared with the "
        "other references only, and rest on no evidence.",
    )
    return Section("Systems", text, (Table(header, rows, "scores.json"),))


def layouts(scored: ScoredRun) -> Section:
    """Return the figures by system, in a table for each paper's layout."""
    tables = tuple(_layout(scored, title, names) for title, names in LAYOUTS)
    arrows = "↑ more is better, ↓ less is better; without an arrow neither."
    return Section("Figures by system", (arrows, *scored.totals["missing"]), tables)


def by_language(scored: ScoredRun) -> Section:
    """Return the shared task's table: a row for each language and system, with means over single drafts."""
    names = [name for name in SHARED_TASK if name in scored.totals["metrics"]]
    rows = tuple(
        (f"{language} {system}", *(_mean(scored, name, system, language=language) for name in names))
        for language in sorted(set(scored.dimensions["language"].tolist()))
        for system in scored.names
        if (scored.systems == system)[scored.dimensions["language"] == language].any()
    )
    text = ("As the shared task on multilingual counterspeech prints it. BLEU is the mean of single drafts here.",)
    return Section("By language", text, (Table(("", *_labels(scored, names)), rows, "scores.jsonl"),))


def tests(scored: ScoredRun) -> Section:
    """Return tests of each system against the first: mean differences on the same posts, intervals, p-values."""
    rows = list(_tests(scored))
    if not rows:
        return Section("Tests", ("There is only one system, so nothing is tested.",))
    corrected = holm([row[-1] for row in rows])
    cells = tuple(
        (
            f"{system} – {scored.names[0]}",
            label,
            str(pairs),
            difference,
            number(p, 4),
            number(adjusted, 4),
            _said(adjusted),
        )
        for (system, label, pairs, difference, p), adjusted in zip(rows, corrected, strict=True)
    )
    header = ("systems", "metric", "posts", "mean difference [95 %]", "p", "p (Holm)", "")
    text = (
        "People's references are not tested by metrics that compare with references: one fewer is left for them.",
        "Paired by post: bootstrap intervals (percentile, 2,000 resamples) and permutation tests (2,000 resamples), "
        f"corrected by Holm for the {len(rows)} tests in this table.",
    )
    return Section("Tests", text, (Table(header, cells, "scores.jsonl"),))


def _tests(scored: ScoredRun) -> Iterator[tuple[str, str, int, str, float]]:
    first, *others = scored.names
    for name in (name for name in TESTED if name in scored.columns):
        for system in others:
            if system == REFERENCES and scored.totals["metrics"][name]["by_references"]:
                continue
            left, right = scored.pairs(name, system, first)
            if len(left) < 2:
                continue
            result = paired(left, right, scored.seed)
            spread = f"{result.interval.mean:+.3f} [{result.interval.low:+.3f}, {result.interval.high:+.3f}]"
            yield system, scored.totals["metrics"][name]["label"], result.pairs, spread, result.p


def _said(p: float) -> str:
    return "differs" if p < ALPHA else "may be chance"


def meanings(scored: ScoredRun) -> Section:
    """Return the definition of each figure, and what it does not show."""
    rows = tuple(
        (card["label"], _source(card), card["formula"], _range(card), card["blind_spot"])
        for card in scored.totals["metrics"].values()
    )
    header = ("metric", "source", "formula", "range", "what it does not show")
    return Section("What each figure does not show", (), (Table(header, rows, "scores.json"),))


def _layout(scored: ScoredRun, title: str, names: Sequence[str]) -> Table:
    known = [name for name in names if name in scored.totals["metrics"]]
    rows = tuple(
        (system, *(_total(scored, name, system, total["values"][name]) for name in known))
        for system, total in _ordered(scored)
    )
    return Table((title, *_labels(scored, known)), rows, "scores.json, intervals from scores.jsonl")


def _ordered(scored: ScoredRun) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((name, scored.totals["systems"][name]) for name in scored.names)


def _labels(scored: ScoredRun, names: Sequence[str]) -> tuple[Cell, ...]:
    cards = scored.totals["metrics"]
    arrows = {True: " ↑", False: " ↓", None: ""}
    return tuple(cards[name]["label"] + arrows[cards[name]["higher_is_better"]] for name in names)


def _total(scored: ScoredRun, name: str, system: str, total: dict[str, Any]) -> Cell:
    if total["value"] is None:
        return "–"
    digits = 1 if name in _WHOLE else 4 if name == "bleu" else 3
    values = scored.values(name, system)
    cell = number(total["value"], digits)
    # A system's BLEU is a corpus figure, not a mean, so the interval of the mean would not belong to it.
    if len(values) < _FEW or name == "bleu":
        return cell
    spread = interval(values, scored.seed)
    return f"{cell} [{number(spread.low, digits)}, {number(spread.high, digits)}]"


def _mean(scored: ScoredRun, name: str, system: str, **where: str) -> Cell:
    values = scored.values(name, system, **where)
    return number(float(values.mean()), 1 if name in _WHOLE else 3) if len(values) else "–"


def _source(card: dict[str, Any]) -> Cell:
    return f"{card['source']}; {card['by']}" if card.get("by") else str(card["source"])


def _range(card: dict[str, Any]) -> Cell:
    highest = "" if card["highest"] is None else f" to {card['highest']:g}"
    return f"{card['lowest']:g}{highest}" if highest else f"{card['lowest']:g} and more"
