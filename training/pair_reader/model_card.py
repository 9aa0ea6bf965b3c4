"""Write the card of the reader of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import numpy as np
from sklearn.metrics import roc_auc_score

from models.e5 import PAIR_QUESTIONS
from models.embed import Vectors
from pipeline.guard.pair_judge import AGAIN_COUNTS
from training.pair_layers.data import Pair

CARD = """# Reader of pairs

all-mpnet-base-v2 (110 million parameters, English, Apache-2.0), tuned by low-rank adapters (LoRA, rank 16, in all
layers) to read two texts together, and a linear head for each of two questions:

- **opposes**: does a sentence of a reply stand against the post, and harm nobody?
- **follows**: does a sentence state only what a piece of evidence, with its source, bears out?

Written on {day} by `rejoinder train pair-reader`; do not edit. sha256 `{digest}`

**For**: the guard's checks `opposes` and `grounded` of English sentences that a model wrote, beside the layers for
pairs ([card](../../models/data/e5_pairs.md)): {share:.2f} of the log odds are the reader's, the rest are theirs. **Not
for**: facts outside the evidence, judging people, or acting without a person.

## Trained on {count:,} pairs

The English ones of the layers for pairs, whose card says where they come from and who labelled them.

## Measured on {unseen:,} pairs that were kept apart

No sentence about their posts was learned from; beside their evidence only sentences that were not written for it.
"Both" is as in service. Right: over or under log odds of 0.

{tables}
What it does within the guard, on drafts of other writers, stands in `docs/drafting.md`.

## Limits

English only. Writers of training sentences and of those measured here are the same; drafts of others are judged less
surely. Emoji are unknown to the vocabulary.
"""


def write_card(
    taught: Sequence[Pair], unseen: Sequence[Pair], by_layers: Vectors, by_reader: Vectors, digest: str
) -> str:
    """Return the card, given the log odds of unseen pairs by both, each of shape (pairs, questions)."""
    return CARD.format(
        day=datetime.now(UTC).date(),
        digest=digest,
        share=AGAIN_COUNTS,
        count=len(taught),
        unseen=len(unseen),
        tables="\n".join(_tables(unseen, by_layers, by_reader)),
    )


def _tables(pairs: Sequence[Pair], by_layers: Vectors, by_reader: Vectors) -> Iterator[str]:
    both = (1 - AGAIN_COUNTS) * by_layers + AGAIN_COUNTS * by_reader
    for column, question in enumerate(PAIR_QUESTIONS):
        rows = [row for row, pair in enumerate(pairs) if pair.question == question]
        opinions = [scores[rows, column] for scores in (by_layers, by_reader, both)]
        answers = np.array([pairs[row].answer for row in rows])
        yield f"| {question} | answer | pairs | right, layers | right, reader | right, both |"
        yield "|---|---|--:|--:|--:|--:|"
        kinds = np.array([pairs[row].kind for row in rows])
        for answer, kind in sorted({(bool(answer), str(kind)) for answer, kind in zip(answers, kinds, strict=True)}):
            chosen = (answers == answer) & (kinds == kind)
            shares = " | ".join(f"{np.mean((scores[chosen] > 0) == answer):.2f}" for scores in opinions)
            yield f"| {kind} | {'yes' if answer else 'no'} | {chosen.sum()} | {shares} |"
        aucs = ", ".join(f"{roc_auc_score(answers, scores):.3f}" for scores in opinions)
        yield f"\nAUC: {aucs} (layers, reader, both)\n"
