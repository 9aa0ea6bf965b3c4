"""Measure how long each step took, from the ledger's history and the platform's own clock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.domain import CaseState, Transition

SHARES = (0.50, 0.95, 0.99)


@dataclass(frozen=True)
class Timing:
    """The duration of a step: how often it was observed, and percentiles in seconds."""

    count: int
    p50: float
    p95: float
    p99: float


def timing(seconds: Sequence[float]) -> Timing:
    """Return the percentiles of some times in seconds, by nearest rank; zeros if there are none."""
    ordered = sorted(seconds) or [0.0]
    p50, p95, p99 = (round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3) for share in SHARES)
    return Timing(len(seconds), p50, p95, p99)


def timings(
    answers_s: Sequence[float], first_sent: Mapping[str, float], history: Iterable[Transition], undo_s: float
) -> dict[str, Timing]:
    """Return the timing of each step by name; `first_sent` is in seconds since the epoch, by case key."""
    times: dict[str, list[float]] = defaultdict(list)
    times["gateway answers"] = list(answers_s)
    reached: dict[str, dict[CaseState, float]] = defaultdict(dict)
    for transition in history:
        key, at = transition.case_key, transition.at.timestamp()
        moments = reached[key]
        match transition.from_state, transition.to_state:
            case None, CaseState.RECEIVED:
                times["flag to ledger"].append(at - first_sent.get(key, at))
            case CaseState.RECEIVED, to:
                times["triage"].append(at - moments.get(CaseState.RECEIVED, at))
                if to is not CaseState.TRIAGED:
                    times["flag to the end by triage"].append(at - first_sent.get(key, at))
            case CaseState.TRIAGED, CaseState.GROUNDED:
                times["evidence"].append(at - moments.get(CaseState.TRIAGED, at))
            case CaseState.GROUNDED, CaseState.PENDING:
                times["draft"].append(at - moments.get(CaseState.GROUNDED, at))
                if CaseState.PENDING not in moments:
                    times["flag to moderators"].append(at - first_sent.get(key, at))
            case CaseState.APPROVED, CaseState.RELEASED:
                times["reply, after the undo window"].append(at - moments[CaseState.APPROVED] - undo_s)
        moments[transition.to_state] = at
    return {name: timing(values) for name, values in times.items()}
