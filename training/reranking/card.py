"""Write the card of a reranker: its base model, its training data, and figures before and after training."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.reranking.measure import SHOWN, Ordering
from training.reranking.pairs import HELD_OUT, NEGATIVES

CARD = "card.md"


@dataclass(frozen=True)
class Origin:
    """The base model, the training data and the training parameters of a reranker."""

    base: str
    learned: int
    languages: Sequence[str]
    seed: int
    epochs: float
    most_steps: int
    rate: float


@dataclass(frozen=True)
class Orderings:
    """How well the texts of some questions are ordered by e5, by the base model, and by the tuned model."""

    e5: Ordering
    before: Ordering
    after: Ordering


def reranker_card(name: str, origin: Origin, model: Path, figures: Mapping[str, Orderings]) -> str:
    """Return the card as Markdown; `model` is the folder of the saved model."""
    digests = "\n".join(
        f"- `{file.name}`: `{hashlib.sha256(file.read_bytes()).hexdigest()}`"
        for file in sorted(model.rglob("*.safetensors"))
    )
    steps = f", {origin.most_steps} steps at most" if origin.most_steps else ""
    return f"""# The reranker "{name}"

A cross-encoder that reads a query and a text together, made by `rejoinder train reranker` from
`{Path(origin.base).name}`. SHA-256:

{digests}

Learned from {origin.learned} wordings of claims on file ({", ".join(origin.languages)}), each with a fact that answers
its claim and {NEGATIVES} facts that don't: of the same group, on file for other claims, and nearest to the wording by
the embedded e5. InfoNCE over these and four texts of other questions; seed {origin.seed}, {origin.epochs:g}
epochs{steps}, learning rate {origin.rate:g}.

| measured on | questions | best text first | nDCG@{SHOWN} | InfoNCE |
|---|--:|--:|--:|--:|
{chr(10).join(_rows(figures))}

"Claims learned from" are some of the questions themselves: what rises there alone was learned by heart.
"Held-out claims" are one in {HELD_OUT} by digest: other claims, but the same facts and the same hands. "Graded posts"
are those that the search is measured on, with the texts that readers graded for them; nothing was learned from them.
Trust the last. "By e5" is the order of the embedded e5's cosines, which costs nothing: on claims it stands worse than
it is, since the wrong facts there are those nearest by it. "Before" is chance where the base was no cross-encoder: then
it gets a head of random weights first.

**Limits.** It learned which facts this project put on file for which claims, as the claims' own matching did: behind
that it may add nothing, so measure it in place (`rejoinder bench kb --bge-reranker FOLDER`). It knows nothing of
whether a text is true. Nothing switches it on but `kb.reranker` and `kb.reranker_model`.
"""


def _rows(figures: Mapping[str, Orderings]) -> Iterator[str]:
    for part, by in figures.items():
        # Cosines are on another scale than the models' scores, so their InfoNCE can't be compared.
        for who, figure, loss in (
            ("by e5", by.e5, "–"),
            ("before", by.before, f"{by.before.loss:.3f}"),
            ("after", by.after, f"{by.after.loss:.3f}"),
        ):
            yield f"| {part}, {who} | {figure.questions} | {figure.best_first:.3f} | {figure.ndcg:.3f} | {loss} |"
