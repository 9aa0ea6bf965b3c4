"""Write the card of a ranker: its training data, its figures on unseen posts, and what it prefers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from training.ranking.fit import Measured

STRONGEST = 8
"""Features that a card lists as preferred, and as avoided."""


def ranker_card(
    name: str, measured: Sequence[Measured], weights: Mapping[str, float], raters: int, digests: tuple[str, str]
) -> str:
    """Return the card as Markdown; `digests` are those of the verdicts and of the ranker's file."""
    by_weight = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    rows = "\n".join(_row(part) for part in measured)
    return f"""# The ranker "{name}"

Which claims, counter-claims and facts on file moderators approve, for which posts: weights of named features, which
change the order of what is on file and nothing else. Written by `rejoinder train rank`. It serves where `kb.ranker` is
`{name}`. SHA-256 of `ranker.json`: `{digests[1]}`.
Learned from the judgements of {raters} moderators, `verdicts.jsonl` `{digests[0]}`.

| part | judgements | approved | AUC on unseen posts (95 %) |
|---|--:|--:|--:|
{rows}

The area is measured by five-fold cross-validation in which no post is on both sides; the interval is a bootstrap over
posts. 0.5 would be chance.

**Preferred:** {_listed(by_weight[:STRONGEST])}.

**Avoided:** {_listed(by_weight[::-1][:STRONGEST])}.

**Limits.** It has these moderators' taste and not the readers' good: read the two lists above before you switch it on.
What was drafted often is known best. It knows a post by its group and language alone, and it can't tell why a draft was
rejected where the reason does not say. Features that are not in the file, as of new claims and facts, weigh nothing.
"""


def _row(part: Measured) -> str:
    area = "–" if part.auc is None or part.interval is None else (
        f"{part.auc:.2f} ({part.interval[0]:.2f} to {part.interval[1]:.2f})"
    )  # fmt: skip
    return f"| {part.part} | {part.judgements} | {part.approved:.2f} | {area} |"


def _listed(weights: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"`{name}` {weight:+.2f}" for name, weight in weights) or "nothing"
