"""The findings of a run, as a table and as JSON."""

from __future__ import annotations

import os
import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from evaluation.stress.flagging import Flagging
from evaluation.stress.moderators import DecisionLog
from evaluation.stress.plan import StressPlan
from evaluation.stress.stages import Timing
from evaluation.stress.verdict import FAILINGS, Verdict

EXAMPLES = 5


@dataclass(frozen=True)
class Report:
    """The findings of a run; `seconds` is the time from the first flag until nothing was left to do."""

    plan: StressPlan
    seconds: float
    flagging: Flagging
    decisions: DecisionLog
    replies: int
    faults: list[tuple[float, str]]
    dead_letters: list[str]
    restarts: dict[str, int]
    timings: dict[str, Timing]
    verdict: Verdict

    def failures(self, longest_p95_s: float | None) -> list[str]:
        """Return a line for each limit that was exceeded; none for a good run."""
        lines = [f"{name}: {len(keys)}" for name, keys in self.verdict.wrong.items() if keys]
        slow = self.timings.get("flag to moderators")
        if longest_p95_s is not None and slow is not None and slow.p95 > longest_p95_s:
            lines.append(f"flag to moderators: p95 {slow.p95} s is over {longest_p95_s} s")
        return lines


def as_json(report: Report) -> dict[str, Any]:
    """Return the report as values that can be written as JSON."""
    plan = {name: value for name, value in asdict(report.plan).items() if name != "folder"}
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}", "machine": _machine(), "plan": plan,
        "seconds": round(report.seconds, 1), **_counts(report),
        "wrong": {name: len(keys) for name, keys in report.verdict.wrong.items()},
        "examples": {name: keys[:EXAMPLES] for name, keys in report.verdict.wrong.items() if keys},
        "states": report.verdict.states,
        "timings_s": {name: asdict(measured) for name, measured in report.timings.items()},
        "faults": report.faults, "starts": report.restarts, "dead_letters": report.dead_letters[:EXAMPLES],
    }  # fmt: skip


def as_table(report: Report) -> str:
    """Return the report as text for people to read."""
    lines = [f"{datetime.now(UTC):%Y-%m-%d}, {_machine()}, {report.plan.database}, {report.seconds:.0f} s", ""]
    lines += _rows([(name, f"{count:,}") for name, count in _counts(report).items()])
    lines += ["", *_rows([(f"cases {state}", f"{count:,}") for state, count in sorted(report.verdict.states.items())])]
    lines += ["", "Must be nought:", ""]
    lines += _rows(
        [(f"{name} ({meaning})", f"{len(report.verdict.wrong[name]):,}") for name, meaning in FAILINGS.items()]
    )
    lines += ["", f"{'seconds':34} {'seen':>7} {'p50':>8} {'p95':>8} {'p99':>8}"]
    lines += [
        f"{name:34} {measured.count:7,} {measured.p50:8.2f} {measured.p95:8.2f} {measured.p99:8.2f}"
        for name, measured in report.timings.items()
    ]
    lines += ["", *(f"{at:7.1f} s  {what}" for at, what in report.faults)]
    wrong = ((name, keys) for name, keys in report.verdict.wrong.items() if keys)
    lines += [f"{name}, for example: {', '.join(keys[:EXAMPLES])}" for name, keys in wrong]
    return "\n".join(lines)


def _counts(report: Report) -> dict[str, int]:
    return {
        "flags accepted": len(report.flagging.accepted),
        "requests sent again": report.flagging.tries_again,
        "decisions tried": len(report.decisions.decisions),
        "decisions answered yes": report.decisions.answered,
        "collisions": report.decisions.collisions,
        "replies on the topic": report.replies,
        "dead letters": len(report.dead_letters),
        "faults": len(report.faults),
        "processes started again": sum(report.restarts.values()) - len(report.restarts),
    }


def _machine() -> str:
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


def _rows(rows: list[tuple[str, str]]) -> list[str]:
    width = max((len(name) for name, _ in rows), default=0)
    return [f"{name:<{width}}  {value:>9}" for name, value in rows]
