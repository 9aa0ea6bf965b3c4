"""Compare a judge's verdicts with those of people on the same drafts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nltk.metrics.agreement import AnnotationTask
from scipy.stats import kendalltau, spearmanr

from core.errors import BadInput
from core.spreadsheets import TextLines, read_rows
from evaluation.judging.tally import PairResult

COLUMNS = ("post_id", "left", "right", "preferred")
PREFERRED = {"left": 1, "tie": 0, "right": -1}


def read_people(path: Path) -> list[PairResult]:
    """Return people's choices from a CSV with COLUMNS.

    Raises BadInput for a missing column, or if `preferred` is not `left`, `right` or `tie`.
    """
    with path.open("rb") as file:
        rows = read_rows(TextLines(file), path, COLUMNS)
        return [_result(row, f"{path}, line {line}") for line, row in rows]


def _result(row: dict[str, str], where: str) -> PairResult:
    preferred = row["preferred"].strip().lower()
    if preferred not in PREFERRED:
        raise BadInput(f"{where}: `preferred` is {row['preferred']!r}; write left, right or tie.")
    winner = row[preferred] if preferred != "tie" else ""
    left, right = sorted((row["left"], row["right"]))
    return PairResult(row["post_id"], left, right, winner, True)


def agreement(judged: Sequence[PairResult], people: Sequence[PairResult]) -> dict[str, Any]:
    """Return how far a judge agrees with people on the pairs that both compared; raises BadInput if there are none.

    `accuracy` is the share of equal answers, with a tie as one of three answers. Spearman's and Kendall's correlations
    take left, tie, right as an order. Cohen's kappa corrects for chance. A value that can't be computed is None.
    """
    by_pair = {(result.post_id, result.left, result.right): result for result in judged}
    pairs = [(by_pair[key], human) for human in people if (key := (human.post_id, human.left, human.right)) in by_pair]
    if not pairs:
        raise BadInput("The judge and the people compared no pair in common; are post_id, left and right the run's?")
    ours, theirs = ([_order(pair[side]) for pair in pairs] for side in (0, 1))
    varied = len(set(ours)) > 1 and len(set(theirs)) > 1
    return {
        "pairs": len(pairs),
        "accuracy": round(sum(a == b for a, b in zip(ours, theirs, strict=True)) / len(pairs), 4),
        "spearman": round(float(spearmanr(ours, theirs)[0]), 4) if varied else None,
        "kendall": round(float(kendalltau(ours, theirs)[0]), 4) if varied else None,
        "kappa": round(_kappa(ours, theirs), 4) if varied else None,
        "by_pair": [
            {
                "post_id": a.post_id,
                "left": a.left,
                "right": a.right,
                "judge": a.winner or "tie",
                "people": b.winner or "tie",
            }
            for a, b in pairs
        ],
    }


def _order(result: PairResult) -> int:
    if not result.winner:
        return 0
    return 1 if result.winner == result.left else -1


def _kappa(ours: Sequence[int], theirs: Sequence[int]) -> float:
    answers = [(who, pair, answer) for who, column in (("judge", ours), ("people", theirs))
               for pair, answer in enumerate(column)]  # fmt: skip
    return float(AnnotationTask(data=answers).kappa())
