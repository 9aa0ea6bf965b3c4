"""Count a judge's verdicts: wins by system, Bradley-Terry strengths, how much the order decides, and the cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.judging.judge import JudgeVerdict
from evaluation.judging.prompts import Preference

RESAMPLES = 300
STEPS = 200
"""Steps of the Bradley-Terry fit; it stands still long before."""
PRIOR = 0.5
"""Draws that each pair of systems is given beforehand: a system that always wins keeps a finite strength."""


@dataclass(frozen=True)
class PairResult:
    """What both orders together say of two systems' drafts for a post; `winner` is empty for a tie."""

    post_id: str
    left: str
    right: str
    winner: str
    agreed: bool


def pair_results(verdicts: Iterable[JudgeVerdict]) -> list[PairResult]:
    """Return a result for each pair with a verdict in both orders; orders that disagree are a tie."""
    winners: dict[tuple[str, str, str], dict[bool, str]] = defaultdict(dict)
    for verdict in verdicts:
        question = verdict.question
        left, right = sorted((question.first, question.second))
        winner = _winner(verdict)
        if winner is not None:
            winners[question.post_id, left, right][question.first == left] = winner
    return [
        PairResult(post, left, right, both[True] if both[True] == both[False] else "", both[True] == both[False])
        for (post, left, right), both in winners.items()
        if len(both) == 2
    ]


def _winner(verdict: JudgeVerdict) -> str | None:
    """Return the system that a verdict prefers, empty for a tie; None for no verdict."""
    winners = {
        Preference.FIRST: verdict.question.first,
        Preference.SECOND: verdict.question.second,
        Preference.TIE: "",
    }
    return winners.get(verdict.preference)


def strengths(results: Sequence[PairResult], systems: Sequence[str]) -> NDArray[np.float64]:
    """Return the systems' Bradley-Terry strengths (1952; a tie is half a win each), logarithms that add up to 0."""
    place = {system: number for number, system in enumerate(systems)}
    wins = np.full((len(systems), len(systems)), PRIOR / 2)
    np.fill_diagonal(wins, 0)
    for result in results:
        left, right = place[result.left], place[result.right]
        share = 0.5 if not result.winner else float(result.winner == result.left)
        wins[left, right] += share
        wins[right, left] += 1 - share
    games = wins + wins.T
    scores = np.ones(len(systems))
    for _ in range(STEPS):
        expected = games / (scores[:, None] + scores[None, :])
        scores = wins.sum(axis=1) / np.maximum(expected.sum(axis=1), 1e-12)
        scores /= np.exp(np.log(scores).mean())
    return np.asarray(np.log(scores), np.float64)


def summary(verdicts: Sequence[JudgeVerdict], seed: int) -> dict[str, Any]:
    """Return the counts of one judge's verdicts with one prompt, of which there is at least one."""
    results = pair_results(verdicts)
    systems = sorted({name for verdict in verdicts for name in (verdict.question.first, verdict.question.second)})
    low, high = _intervals(results, systems, seed)
    fitted = strengths(results, systems)
    decided = [
        verdict.preference for verdict in verdicts if verdict.preference in (Preference.FIRST, Preference.SECOND)
    ]
    rows = {
        name: {
            **_record(name, results),
            "strength": round(float(fitted[place]), 4),
            "low": round(float(low[place]), 4),
            "high": round(float(high[place]), 4),
        }
        for place, name in enumerate(systems)
    }
    return {
        "judge": verdicts[0].judge,
        "prompt": verdicts[0].prompt,
        "asked": len(verdicts),
        "no_verdict": sum(verdict.preference is Preference.NONE for verdict in verdicts),
        "pairs": len(results),
        "systems": dict(sorted(rows.items(), key=lambda row: -row[1]["strength"])),
        "first_preferred": round(decided.count(Preference.FIRST) / len(decided), 4) if decided else None,
        "orders_disagree": round(sum(not result.agreed for result in results) / len(results), 4) if results else None,
        "cost": _cost(verdicts),
    }


def _record(system: str, results: Iterable[PairResult]) -> Mapping[str, int]:
    counts = Counter(
        "ties" if not result.winner else "wins" if result.winner == system else "losses"
        for result in results
        if system in (result.left, result.right)
    )
    return {name: counts[name] for name in ("wins", "losses", "ties")}


def _intervals(
    results: Sequence[PairResult], systems: Sequence[str], seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where 95 % of the strengths lie when posts are drawn anew, each with all of its results."""
    by_post: dict[str, list[PairResult]] = defaultdict(list)
    for result in results:
        by_post[result.post_id].append(result)
    if not by_post:
        return np.zeros(len(systems)), np.zeros(len(systems))
    groups = list(by_post.values())
    chance = np.random.default_rng(seed)
    drawn = [
        strengths(
            [result for place in chance.integers(len(groups), size=len(groups)) for result in groups[place]], systems
        )
        for _ in range(RESAMPLES)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    return low, high


def _cost(verdicts: Sequence[JudgeVerdict]) -> dict[str, float]:
    return {
        "calls": len(verdicts),
        "characters_sent": sum(verdict.characters_sent for verdict in verdicts),
        "characters_received": sum(len(verdict.answer) for verdict in verdicts),
        "seconds": round(sum(verdict.seconds for verdict in verdicts), 1),
    }
