"""Write the card of the layers for pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import numpy as np
from sklearn.metrics import roc_auc_score

from models.e5 import PAIR_QUESTIONS
from models.embed import Vectors
from training.pair_layers.data import Pair

CARD = """# Layers for pairs

The last six layers of multilingual-e5-small, tuned by low-rank adapters (LoRA, rank 16) to read two texts together, and
a linear head for each of two questions:

- **opposes**: does a sentence of a reply stand against the post, and harm nobody?
- **follows**: does a sentence state only what a piece of evidence, with its source, bears out?

Written on {day} by `rejoinder train pair-layers`; do not edit. sha256 `{digest}`

**For**: the guard's checks `opposes` and `grounded` of sentences that a model wrote. **Not for**: facts outside the
evidence, judging people, or acting without a person. It knows English, Spanish, Italian and Basque.

## Trained on {count:,} pairs

| question | kind | pairs | of them yes |
|---|---|--:|--:|
{taught}

Sentences of `follows.tsv` and `opposes.tsv` were written for this by language models, as near twins: most bad ones
differ from a good one in a word or two. They stand beside facts on file, starter statements, evidence written for
training only, wordings of claims on file, and posts of HateXplain and MLMA, of which no text is shipped. "(stances)"
are pairs of the stance head. "Beside evidence" are sentences that state nothing (yes), or that repeat, grant or bend
what a post says (no), beside evidence drawn by chance. A second language model read 300 sentences of each file, drawn
by chance, without their answers, and gave the same answer to all. "Draft" are sentences of whole drafts, good and bad,
for 574 scenes of a post and facts on file (`drafts.tsv`), each beside its post and its evidence; of 300 a second model
gave the same answer to 296 on `opposes` and 291 on `follows`.

## Measured on {unseen:,} pairs that were kept apart

By the shipped file, in service. No sentence about their posts was learned from; beside their evidence only sentences
that were not written for it. Right: over or under log odds of 0.

{tables}
What it does within the guard, on drafts of other writers, stands in `docs/drafting.md`.

## Limits

Languages other than those four were not measured. Exchanged roles and directions are what it misses most. Writers of
training sentences and of those measured here are the same; drafts of others are judged less surely.
"""


def write_card(taught: Sequence[Pair], unseen: Sequence[Pair], scores: Vectors, digest: str) -> str:
    """Return the card, given the log odds of unseen pairs, shape (pairs, questions)."""
    return CARD.format(
        day=datetime.now(UTC).date(),
        digest=digest,
        count=len(taught),
        taught="\n".join(_taught(taught)),
        unseen=len(unseen),
        tables="\n".join(_tables(unseen, scores)),
    )


def _taught(pairs: Sequence[Pair]) -> Iterator[str]:
    counts = Counter((pair.question, pair.kind) for pair in pairs)
    yes = Counter((pair.question, pair.kind) for pair in pairs if pair.answer)
    for (question, kind), count in sorted(counts.items()):
        yield f"| {question} | {kind} | {count:,} | {yes[question, kind]:,} |"


def _tables(pairs: Sequence[Pair], scores: Vectors) -> Iterator[str]:
    for column, question in enumerate(PAIR_QUESTIONS):
        rows = [row for row, pair in enumerate(pairs) if pair.question == question]
        yield f"| {question} | answer | pairs | right |"
        yield "|---|---|--:|--:|"
        kinds = sorted({(pairs[row].answer, pairs[row].kind) for row in rows})
        for answer, kind in kinds:
            of_kind = [row for row in rows if (pairs[row].answer, pairs[row].kind) == (answer, kind)]
            right = float(np.mean([(scores[row, column] > 0) == answer for row in of_kind]))
            yield f"| {kind} | {'yes' if answer else 'no'} | {len(of_kind)} | {right:.2f} |"
        yield ""
        for language in sorted({pairs[row].language for row in rows}):
            yield f"- AUC, {language}: {_auc(pairs, scores[:, column], rows, language):.3f}"
        yield f"- AUC over all: {_auc(pairs, scores[:, column], rows):.3f}\n"


def _auc(pairs: Sequence[Pair], scores: Vectors, rows: Sequence[int], language: str | None = None) -> float:
    chosen = [row for row in rows if language in (None, pairs[row].language)]
    return float(roc_auc_score([pairs[row].answer for row in chosen], [scores[row] for row in chosen]))
