"""Score a run: every metric on every draft, then on every system. Drafts are scored a portion at a time."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

from core.errors import BadInput
from evaluation.lines import append_lines, mend, read_lines
from evaluation.metrics.metric import Metric, Value
from evaluation.records import DraftScores, EvaluationPost, Sample, SystemDraft, blind
from evaluation.run import RunFolder

PORTION = 256
"""Drafts that are scored at once."""
DIGITS = 4
"""Decimals that are kept: further ones differ from run to run, with the order in which floats are added."""

T = TypeVar("T")


async def score(
    run: RunFolder, metrics: Sequence[Metric], missing: Sequence[str], advance: Callable[[int], None]
) -> dict[str, Any]:
    """Write `scores.jsonl` (by draft) and `scores.json` (by system), and return the content of the latter.

    Drafts already scored by an interrupted call with the same metrics are not scored again. Raises BadInput if the
    run has no drafts, or if a draft answers a post that is not in the run.
    """
    if next(run.drafts(), None) is None:
        raise BadInput(f"{run.path} has no drafts; run `rejoinder evaluate generate` first.")
    posts = run.posts()
    partial = _partial_path(run, metrics)
    mend(partial)
    scored = sum(1 for _ in read_lines(partial, DraftScores))
    advance(scored)
    for portion in portions(islice(run.drafts(), scored, None), PORTION):
        append_lines(partial, await _score_drafts(portion, posts, metrics))
        advance(len(portion))
    partial.replace(run.scores_path)
    totals = {
        "systems": _by_system(run, posts, metrics),
        "metrics": {metric.card.name: asdict(metric.card) for metric in metrics},
        "missing": sorted(missing),
    }
    run.write_json(run.totals_path.name, totals)
    run.record_scoring({metric.card.name: metric.card.by for metric in metrics if metric.card.by})
    return totals


async def _score_drafts(
    drafts: Sequence[SystemDraft], posts: dict[str, EvaluationPost], metrics: Sequence[Metric]
) -> list[DraftScores]:
    samples = [blind(draft, _post_of(draft, posts)) for draft in drafts]
    columns = {metric.card.name: await metric.score(samples) for metric in metrics}
    return [
        DraftScores(
            post_id=draft.post_id,
            system=draft.system,
            values={
                name: round(value, DIGITS) for name, column in columns.items() if (value := column[row]) is not None
            },
        )
        for row, draft in enumerate(drafts)
    ]


def _post_of(draft: SystemDraft, posts: dict[str, EvaluationPost]) -> EvaluationPost:
    try:
        return posts[draft.post_id]
    except KeyError:
        raise BadInput(
            f"drafts.jsonl has a draft for {draft.post_id!r}, which is not in posts.jsonl; were the files mixed up?"
        ) from None


def _partial_path(run: RunFolder, metrics: Sequence[Metric]) -> Path:
    """Return where unfinished scores are kept: one file for each set of metrics and the models that compute them."""
    names = "\n".join(f"{metric.card.name} {metric.card.source} {metric.card.by}" for metric in metrics)
    return run.path / f"scores.{crc32(names.encode()):08x}.part"


def _by_system(
    run: RunFolder, posts: dict[str, EvaluationPost], metrics: Sequence[Metric]
) -> dict[str, dict[str, Any]]:
    """Return, by system, the numbers of drafts, and each metric's value with the number of drafts behind it."""
    samples: dict[str, list[Sample]] = defaultdict(list)
    counts: dict[str, dict[str, int]] = defaultdict(lambda: {"drafts": 0, "empty": 0, "passes": 0, "by_another": 0})
    for draft in run.drafts():
        samples[draft.system].append(blind(draft, posts[draft.post_id], with_evidence=False))
        count = counts[draft.system]
        count["drafts"] += 1
        count["empty"] += not draft.text
        count["passes"] += draft.passes
        count["by_another"] += bool(draft.writer) and draft.writer != draft.system.partition("/")[0]
    values = _values(run)
    return {
        system: {
            **counts[system],
            "values": {
                metric.card.name: _total(metric, samples[system], values[system, metric.card.name])
                for metric in metrics
            },
        }
        for system in samples
    }


def _values(run: RunFolder) -> dict[tuple[str, str], array[float]]:
    columns: dict[tuple[str, str], array[float]] = defaultdict(lambda: array("d"))
    for scores in read_lines(run.scores_path, DraftScores):
        for name, value in scores.values.items():
            columns[scores.system, name].append(value)
    return columns


def _total(metric: Metric, samples: Sequence[Sample], values: Sequence[Value]) -> dict[str, Any]:
    value = metric.of_system(samples, values)
    return {"value": None if value is None else round(value, DIGITS), "drafts": len(values)}


def portions(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of up to `size`."""
    iterator = iter(items)
    while portion := list(islice(iterator, size)):
        yield portion
