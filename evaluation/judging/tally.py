"""Count a judge's verdicts: wins by system, Bradley-Terry strengths, the effect of a draft's position, and the cost."""

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
"""Steps of the Bradley-Terry fit, which converges long before the last."""
MOST_DISAGREEMENT = 0.5
"""Share of pairs with contradictory verdicts from which a judge is taken to go by position rather than by text."""
PRIOR = 0.5
"""Draws added for each pair of systems, so that a system that always wins keeps a finite strength."""


@dataclass(frozen=True)
class PairResult:
    """The result of two systems' drafts for a post over both orders; `winner` is empty for a tie.

    `agreed` tells whether both orders gave the same verdict; if not, the pair is a tie.
    """

    post_id: str
    left: str
    right: str
    winner: str
    agreed: bool


def pair_results(verdicts: Iterable[JudgeVerdict]) -> list[PairResult]:
    """Return a result for each pair with a verdict in both orders; orders that disagree make a tie."""
    winners: dict[tuple[str, str, str], dict[bool, str]] = defaultdict(dict)
    for verdict in verdicts:
        question = verdict.question
        left, right = sorted((question.first, question.second))
        winner = _winner(verdict)
        if winner is not None:
            winners[question.post_id, left, right][question.first == left] = winner
    return [
        PairResult(
            post,
            left,
            right,
            by_order[True] if by_order[True] == by_order[False] else "",
            by_order[True] == by_order[False],
        )
        for (post, left, right), by_order in winners.items()
        if len(by_order) == 2
    ]


def _winner(verdict: JudgeVerdict) -> str | None:
    """Return the system that a verdict prefers: empty for a tie, None without a verdict."""
    winners = {
        Preference.FIRST: verdict.question.first,
        Preference.SECOND: verdict.question.second,
        Preference.TIE: "",
    }
    return winners.get(verdict.preference)


def wins_by_post(results: Sequence[PairResult], systems: Sequence[str]) -> NDArray[np.float64]:
    """Return each system's wins (row) over each other (column), shape (posts, n, n); a tie is half a win for both."""
    place = {system: number for number, system in enumerate(systems)}
    posts = {post: number for number, post in enumerate(dict.fromkeys(result.post_id for result in results))}
    wins = np.zeros((len(posts), len(systems), len(systems)))
    for result in results:
        post, left, right = posts[result.post_id], place[result.left], place[result.right]
        share = 0.5 if not result.winner else float(result.winner == result.left)
        wins[post, left, right] += share
        wins[post, right, left] += 1 - share
    return wins


def strengths(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Bradley-Terry strengths (1952) for wins of shape (…, n, n): logarithms that sum to 0, shape (…, n)."""
    count = wins.shape[-1]
    wins = wins + PRIOR / 2 * (1 - np.eye(count))
    games = wins + np.swapaxes(wins, -1, -2)
    scores = np.ones(wins.shape[:-1])
    for _ in range(STEPS):
        expected = games / (scores[..., :, None] + scores[..., None, :])
        scores = wins.sum(axis=-1) / expected.sum(axis=-1)
        scores /= np.exp(np.log(scores).mean(axis=-1, keepdims=True))
    return np.asarray(np.log(scores), np.float64)


def summary(verdicts: Sequence[JudgeVerdict], seed: int) -> dict[str, Any]:
    """Return the counts of one judge's verdicts with one prompt; there must be at least one verdict."""
    results = pair_results(verdicts)
    systems = sorted({name for verdict in verdicts for name in (verdict.question.first, verdict.question.second)})
    wins = wins_by_post(results, systems)
    low, high = _intervals(wins, seed)
    fitted = strengths(wins.sum(axis=0))
    decided = [
        verdict.preference for verdict in verdicts if verdict.preference in (Preference.FIRST, Preference.SECOND)
    ]
    rows: dict[str, dict[str, Any]] = {
        name: {
            **_record(name, results),
            "against": {
                other: _record(name, [result for result in results if other in (result.left, result.right)])
                for other in systems
                if other != name
            },
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


def caution(summary: Mapping[str, Any]) -> str:
    """Return a warning to show with a judge's summary; empty if most of its orders agree."""
    if (summary["orders_disagree"] or 0.0) < MOST_DISAGREEMENT:
        return ""
    return f"{summary['judge']} goes by the place of a draft more than by its text: take no ranking from it."


def _record(system: str, results: Iterable[PairResult]) -> Mapping[str, int]:
    counts = Counter(
        "ties" if not result.winner else "wins" if result.winner == system else "losses"
        for result in results
        if system in (result.left, result.right)
    )
    return {name: counts[name] for name in ("wins", "losses", "ties")}


def _intervals(wins: NDArray[np.float64], seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the limits of 95 % bootstrap intervals of the strengths, resampling posts."""
    posts = len(wins)
    if not posts:
        return np.zeros(wins.shape[-1]), np.zeros(wins.shape[-1])
    drawn = np.random.default_rng(seed).multinomial(posts, np.full(posts, 1 / posts), size=RESAMPLES)
    low, high = np.percentile(strengths(np.tensordot(drawn, wins, axes=1)), [2.5, 97.5], axis=0)
    return low, high


def _cost(verdicts: Sequence[JudgeVerdict]) -> dict[str, float]:
    return {
        "calls": len(verdicts),
        "characters_sent": sum(verdict.characters_sent for verdict in verdicts),
        "characters_received": sum(len(verdict.answer) for verdict in verdicts),
        "seconds": round(sum(verdict.seconds for verdict in verdicts), 1),
    }
