"""The drafts that a reader should look at first."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator

from evaluation.records import SystemDraft
from evaluation.report.data import ScoredRun
from evaluation.report.document import Case, Section

SHOWN = 5
"""Drafts shown for each system."""
MOST_NAMED = 30
"""Most posts without a draft that are listed for each system."""
ORDERED_BY = ("coarl", "safety", "argument_quality", "chrf")
"""Metrics to order the drafts by; the first one that was measured is used."""


def worst(scored: ScoredRun) -> Section:
    """Return the lowest-scoring drafts of each system, and the posts for which it has no draft."""
    metric = next((name for name in ORDERED_BY if name in scored.columns), None)
    if metric is None:
        return Section("Worst cases to read", ("No metric of single drafts was measured.",))
    label = scored.totals["metrics"][metric]["label"]
    lowest = {(scored.posts[row], scored.systems[row]): scored.columns[metric][row] for row in _lowest(scored, metric)}
    drafts = {
        (draft.post_id, draft.system): draft for draft in scored.run.drafts() if (draft.post_id, draft.system) in lowest
    }
    posts = scored.run.posts()
    cases = tuple(
        Case(
            title=f"{system}, {post}",
            post=posts[post].text,
            draft=drafts[post, system].text,
            remark=f"{label} {value:.3f}. {_remark(drafts[post, system])}".strip(),
        )
        for (post, system), value in lowest.items()
    )
    text = (
        *_without_draft(scored),
        f"The {SHOWN} lowest of each system by {label}. A low figure is a reason to read a draft, not a verdict on it.",
    )
    return Section("Worst cases to read", text, cases=cases)


def _without_draft(scored: ScoredRun) -> Iterator[str]:
    """Yield a sentence per system on its posts without a draft, as no figure counts them."""
    posts: dict[str, list[str]] = defaultdict(list)
    for draft in scored.run.drafts():
        if not draft.text:
            posts[draft.system].append(draft.post_id)
    for system, ids in posts.items():
        more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
        yield f"{system} has no draft for {len(ids)} posts: {', '.join(ids[:MOST_NAMED])}{more}."


def _lowest(scored: ScoredRun, metric: str) -> Iterator[int]:
    column = scored.columns[metric]
    for system in scored.names:
        rows = [
            row for row, name in enumerate(scored.systems.tolist()) if name == system and column[row] == column[row]
        ]
        yield from heapq.nsmallest(SHOWN, rows, key=lambda row: (float(column[row]), row))


def _remark(draft: SystemDraft) -> str:
    return draft.note
