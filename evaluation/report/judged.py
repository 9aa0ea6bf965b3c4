"""The report's section on a judge's verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation.judging.tally import caution
from evaluation.report.document import Section, Table, number
from evaluation.run import RunFolder


def judged(run: RunFolder) -> Section | None:
    """Return the section on wins and strengths by the judge; None if no judge was asked."""
    if not (run.path / "judge.json").exists():
        return None
    summary = run.read_json("judge.json")
    wins = Table(
        ("system", "wins", "losses", "ties", "strength [95 %]"),
        tuple(
            (
                name,
                str(row["wins"]),
                str(row["losses"]),
                str(row["ties"]),
                f"{number(row['strength'])} [{number(row['low'])}, {number(row['high'])}]",
            )
            for name, row in summary["systems"].items()
        ),
        "judge.json, counted from verdicts.jsonl",
    )
    cost, warning = summary["cost"], caution(summary)
    text = (
        f"{summary['judge']} with the {summary['prompt']} prompt compared {summary['pairs']} pairs of drafts, each "
        "in both orders; a pair on which the orders disagree is a tie. "
        f"{summary['no_verdict']} of {summary['asked']} answers held no verdict.",
        f"The first draft shown was preferred in {number(summary['first_preferred'])} of the verdicts (0.5 is without "
        f"bias); the orders disagreed on {number(summary['orders_disagree'])} of the pairs.",
        *([warning] if warning else []),
        f"Cost: {cost['calls']} calls, {cost['characters_sent']:,} characters sent, "
        f"{cost['characters_received']:,} received, {cost['seconds']:.0f} s.",
        "Strengths are Bradley-Terry scores on a logarithmic scale that adds up to 0, with bootstrap intervals over "
        "posts. A judge prefers long and fluent texts, and texts like its own; "
        "`judge --against` says how far to trust this one.",
    )
    return Section("What a judge says", text, (wins, *_duels(summary["systems"])))


def _duels(systems: Mapping[str, Mapping[str, Any]]) -> Iterator[Table]:
    """Yield a table of each system's wins against each other; none for summaries written before these were counted."""
    if all("against" in row for row in systems.values()):
        yield Table(
            ("won by, against", *systems),
            tuple((name, *(_won(row["against"].get(other)) for other in systems)) for name, row in systems.items()),
            "judge.json, counted from verdicts.jsonl",
        )


def _won(record: dict[str, int] | None) -> str:
    """Return a record against one system as `wins of pairs`; a dash for None, the system itself."""
    return "–" if record is None else f"{record['wins']} of {sum(record.values())}"
