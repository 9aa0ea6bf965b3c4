"""Keep an inverted index in plain arrays: for each token, the texts that contain it and its weight in each.

The arrays are memory-mapped, so that opening costs nothing and processes share the pages. Tokens are 64-bit numbers.
Libraries were measured on 2 busy cores with 250,000 texts of 90 words: `bm25s` needed 1.4 GB to index them; SQLite's
FTS5 took 45 ms a query (p95 82 ms) even without the words that occur in more than 5 % of the texts; `tantivy` builds
smaller indexes, but takes no model's weights per token and text, and no mask (docs/decisions.md).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import KnowledgeBaseError
from kb.query import Hit, Mask
from kb.versions import BUILD_AGAIN

READ_MOST = 100_000
"""Most postings read for one query, rarest tokens first: tokens in nearly all texts tell little and cost most."""
SHARD = 200_000
"""Texts whose tokens are held in memory at once while indexing, about 1 KB per text."""

_ARRAYS = ("tokens.npy", "starts.npy", "texts.npy", "weights.npy")
_FACTS = "facts.json"

Tokens = NDArray[np.uint64]
Weights = NDArray[np.float32]
Weigh = Callable[[Tokens, NDArray[np.int32], Weights, int], Weights]


class Postings:
    """An inverted index, in shards. Searching is safe from many threads."""

    def __init__(self, shards: list[_Shard], facts: Mapping[str, object]) -> None:
        self._shards = shards
        self.facts = facts

    @classmethod
    def load(cls, folder: Path) -> Postings:
        """Map the arrays of a folder; raises KnowledgeBaseError when one is missing or damaged."""
        try:
            facts = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
            shards = [_Shard(folder / str(place), count) for place, count in enumerate(facts["counts"])]
        except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
            raise KnowledgeBaseError(f"The word index in {folder} can't be read: {error}. {BUILD_AGAIN}") from error
        return cls(shards, facts)

    def best(self, query: Mapping[int, float], depth: int, allowed: Mask | None = None) -> list[Hit]:
        """Return up to `depth` texts, best first, by the sum over shared tokens of query weight times text weight."""
        tokens = np.fromiter(query, np.uint64, len(query))
        weights = np.fromiter(query.values(), np.float32, len(query))
        hits: list[Hit] = []
        start = 0
        for shard in self._shards:
            part = None if allowed is None else allowed[start : start + shard.count]
            best = shard.best(tokens, weights, depth, part, READ_MOST // len(self._shards))
            hits += [Hit(start + number, score) for number, score in best]
            start += shard.count
        return sorted(hits, key=lambda hit: -hit.score)[:depth]

    def tokens_of(self, numbers: NDArray[np.int64]) -> list[dict[int, float]]:
        """Return each text's tokens with their weights; the first call is slow, as the index is sorted by token."""
        ends = np.cumsum([shard.count for shard in self._shards])
        places = np.searchsorted(ends, numbers, side="right")
        return [
            self._shards[place].tokens_of(int(number - (ends[place] - self._shards[place].count)))
            for place, number in zip(places, numbers, strict=True)
        ]


class PostingsWriter:
    """A writer of an inverted index into a folder, shard by shard, so that memory stays bounded.

    `weigh` turns the values of a shard's triples (token, text, value) into weights; without it, they are kept.
    """

    def __init__(self, folder: Path, weigh: Weigh | None = None) -> None:
        self._folder, self._weigh = folder, weigh
        self._counts: list[int] = []
        self._tokens: list[Tokens] = []
        self._values: list[Weights] = []

    def add(self, tokens: Mapping[int, float]) -> None:
        """Add a text as tokens with values; it gets the next number."""
        self._tokens.append(np.fromiter(tokens, np.uint64, len(tokens)))
        self._values.append(np.fromiter(tokens.values(), np.float32, len(tokens)))
        if len(self._tokens) == SHARD:
            self._close_shard()

    def finish(self, facts: Mapping[str, object]) -> None:
        """Write the rest, and the facts that belong to the index."""
        if self._tokens or not self._counts:
            self._close_shard()
        (self._folder / _FACTS).write_text(json.dumps({**facts, "counts": self._counts}), encoding="utf-8")

    def _close_shard(self) -> None:
        count = len(self._tokens)
        texts = np.repeat(np.arange(count, dtype=np.int32), [len(tokens) for tokens in self._tokens])
        tokens = np.concatenate([*self._tokens, np.empty(0, np.uint64)])
        values = np.concatenate([*self._values, np.empty(0, np.float32)])
        self._tokens, self._values = [], []
        weights = self._weigh(tokens, texts, values, count) if self._weigh else values
        order = np.argsort(tokens, kind="stable")
        distinct, first = np.unique(tokens[order], return_index=True)
        folder = self._folder / str(len(self._counts))
        folder.mkdir(parents=True)
        arrays: tuple[NDArray[Any], ...] = (
            distinct,
            np.append(first, len(order)).astype(np.int64),
            texts[order],
            weights[order].astype(np.float16),
        )
        for name, array in zip(_ARRAYS, arrays, strict=True):
            np.save(folder / name, array)
        self._counts.append(count)


class _Shard:
    def __init__(self, folder: Path, count: int) -> None:
        arrays = [np.load(folder / name, mmap_mode="r", allow_pickle=False) for name in _ARRAYS]
        self._tokens, self._starts, self._texts, self._weights = arrays
        self.count = count
        if len(self._starts) != len(self._tokens) + 1 or self._starts[-1] != len(self._texts):
            raise ValueError("its arrays contradict each other")

    def best(self, tokens: Tokens, weights: Weights, depth: int, allowed: Mask | None, most: int) -> list[Hit]:
        runs = self._runs(tokens, weights, most)
        if not runs:
            return []
        scores = np.zeros(self.count, np.float32)
        for start, end, weight in runs:
            scores[self._texts[start:end]] += weight * self._weights[start:end].astype(np.float32)
        matching = np.flatnonzero(scores > 0 if allowed is None else (scores > 0) & allowed)
        if len(matching) > depth:
            matching = matching[scores[matching] >= np.partition(scores[matching], -depth)[-depth]]
        order = np.argsort(-scores[matching], kind="stable")[:depth]
        return [Hit(int(number), float(scores[number])) for number in matching[order]]

    def tokens_of(self, text: int) -> dict[int, float]:
        order, starts = self._by_text
        places = order[starts[text] : starts[text + 1]]
        tokens = self._tokens[np.searchsorted(self._starts, places, side="right") - 1]
        return dict(zip(tokens.tolist(), self._weights[places].astype(np.float32).tolist(), strict=True))

    @cached_property
    def _by_text(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        order = np.argsort(self._texts, kind="stable")
        return order, np.searchsorted(self._texts[order], np.arange(self.count + 1))

    def _runs(self, tokens: Tokens, weights: Weights, most: int) -> list[tuple[int, int, float]]:
        """Return the ranges of the known tokens' postings, rarest first, up to `most` postings in all."""
        places = np.minimum(np.searchsorted(self._tokens, tokens), max(len(self._tokens) - 1, 0))
        is_known = self._tokens[places] == tokens if len(self._tokens) else np.zeros(len(tokens), np.bool_)
        starts, ends = self._starts[places[is_known]], self._starts[places[is_known] + 1]
        order = np.argsort(ends - starts, kind="stable")
        within = np.cumsum((ends - starts)[order]) <= most
        within[:1] = True
        runs = [(int(starts[place]), int(ends[place]), float(weights[is_known][place])) for place in order[within]]
        return [(start, min(end, start + most), weight) for start, end, weight in runs]
