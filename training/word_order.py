"""Count which words follow each other in the project's own texts, for the check `garbled`."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from kb.claims.loading import ClaimFiles, load_claims
from kb.claims.records import LANGUAGES, Language
from pipeline.guard.word_order import FILE, LISTED, SHORTEST, WordOrder, kinds
from pipeline.guard.words import words
from pipeline.sentences import split
from training.fits.data import written_sentences
from training.stances.data import written_lists

RARE = 0.01
"""The share of good sentences that the limit may take for garbled, set on written sentences that were not counted."""

CARD = """# Word order

How often one word follows another in the claims, counter-claims and facts on file, written by `rejoinder train
word-order`. Do not edit: the command writes this page together with the counts. The {listed} commonest words of a
language count by themselves, the others by their last letter. A sentence's usualness is the mean, over its pairs of
words, of how much likelier the second is after the first than anywhere (natural logarithm, cut at 2).

**For**: the hard check `garbled` on sentences of {shortest} words and more that a model wrote. **Not for**: style, or
people's writing: one in a hundred good sentences falls under the limit.

sha256 `{digest}`

## Measured on written sentences that were not counted, and on the same with their words shuffled

| language | sentences counted | limit | written ones | of them stopped | shuffled ones stopped |
|---|---:|---:|---:|---:|---:|
{rows}
"""


def train_and_write(out: Path) -> str:
    """Count, write `word_order.npz` and `word_order.md` into `out`, and return the card's table."""
    claims, random = load_claims(), Random(0)
    arrays: dict[str, Any] = {"languages": np.array(LANGUAGES)}
    rows = []
    for language in LANGUAGES:
        sentences = [words(sentence) for text in _texts(claims, language) for sentence in split(text, language)]
        counted = _counted(sentences)
        good = [words(text) for text in _written(language)]
        shuffled = [tuple(random.sample(sentence, len(sentence))) for sentence in good]
        usual = sorted(map(counted.usualness, good))
        least = usual[int(RARE * len(usual))]
        arrays |= _arrays(language, counted, least)
        stopped, caught = (np.mean([counted.usualness(text) < least for text in texts]) for texts in (good, shuffled))
        rows.append(f"| {language} | {len(sentences):,} | {least:.2f} | {len(good)} | {stopped:.0%} | {caught:.0%} |")
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    out.mkdir(parents=True, exist_ok=True)
    (out / FILE).write_bytes(buffer.getvalue())
    digest = hashlib.sha256(buffer.getvalue()).hexdigest()
    table = "\n".join(rows)
    card = CARD.format(listed=LISTED, shortest=SHORTEST, digest=digest, rows=table)
    (out / FILE).with_suffix(".md").write_text(card, encoding="utf-8")
    return table


def _texts(claims: ClaimFiles, language: Language) -> Iterator[str]:
    for claim in claims.claims.values():
        yield claim.gist[language]
        yield from claim.wordings[language]
        for counters in claim.counter.values():
            yield from counters[language]
    for fact in claims.facts.values():
        yield fact.text[language]
        if fact.short:
            yield fact.short[language]


def _written(language: Language) -> Iterator[str]:
    """Yield the written sentences that have no slots and are long enough to be judged."""
    texts = [*written_sentences(language), *(text for texts in written_lists(language).values() for text in texts)]
    yield from (text for text in texts if "{" not in text and len(words(text)) >= SHORTEST)


def _counted(sentences: list[tuple[str, ...]]) -> WordOrder:
    common = Counter(word for sentence in sentences for word in sentence).most_common(LISTED)
    listed = frozenset(word for word, _ in common)
    pairs = Counter(pair for sentence in sentences for pair in pairwise(kinds(sentence, listed)))
    return WordOrder.of(listed, pairs, 0.0)


def _arrays(language: Language, order: WordOrder, least: float) -> dict[str, Any]:
    names = sorted({*order.listed, *(name for pair in order.pairs for name in pair)})
    places = {name: place for place, name in enumerate(names)}
    pairs = sorted(order.pairs.items())
    return {
        f"{language}_kinds": np.array(names),
        f"{language}_before": np.array([places[before] for (before, _), _ in pairs], np.uint16),
        f"{language}_after": np.array([places[after] for (_, after), _ in pairs], np.uint16),
        f"{language}_count": np.array([count for _, count in pairs], np.uint32),
        f"{language}_least": np.float32(least),
    }
