"""Find paragraphs by their words: a BM25 index."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import KnowledgeBaseError

FOLDER = "words"
_LANGUAGES = "languages.json"
_LISTS = {"de": "GERMAN", "en": "EN", "es": "SPANISH", "fr": "FRENCH", "it": "ITALIAN"}


class WordIndex:
    """Hold texts by the words in them, without the stop words of their languages. Searching is safe from many threads.

    Languages that have no list here lose no words.
    """

    def __init__(self, index: Any, languages: Collection[str]) -> None:
        self._index = index
        self._languages = sorted(languages)
        self._stop_words = _stop_words(self._languages)

    @classmethod
    def build(cls, texts: Sequence[str], languages: Collection[str]) -> WordIndex:
        """Index texts; a text's number is its place."""
        import bm25s

        stop_words = _stop_words(languages)
        index = bm25s.BM25()
        index.index([_tokens(text, stop_words) for text in texts], show_progress=False)
        return cls(index, languages)

    @classmethod
    def load(cls, folder: Path) -> WordIndex:
        """Read an index; raises KnowledgeBaseError when it is missing or torn."""
        import bm25s

        try:
            languages = json.loads((folder / FOLDER / _LANGUAGES).read_text(encoding="utf-8"))
            index = bm25s.BM25.load(folder / FOLDER, show_progress=False, verbosity=0)
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise KnowledgeBaseError(f"The word index in {folder} can't be read: {error}. Build the knowledge base "
                                     "again.") from error
        return cls(index, languages)

    def save(self, folder: Path) -> None:
        """Write the index into a folder."""
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        self._index.save(folder / FOLDER, show_progress=False)
        (folder / FOLDER / _LANGUAGES).write_text(json.dumps(self._languages), encoding="utf-8")

    def search(self, query: str, depth: int, allowed: NDArray[np.bool_] | None = None) -> list[int]:
        """Return up to `depth` numbers of texts that share a word with the query, best first."""
        tokens = self._index.get_tokens_ids(_tokens(query, self._stop_words))
        if not tokens:
            return []
        scores = self._index.get_scores_from_ids(tokens, weight_mask=allowed)
        best = np.argsort(-scores, kind="stable")[:depth]
        return [int(number) for number in best if scores[number] > 0]


def _stop_words(languages: Collection[str]) -> list[str]:
    from bm25s import stopwords

    return sorted({word for code in languages if code in _LISTS
                   for word in getattr(stopwords, f"STOPWORDS_{_LISTS[code]}")})


def _tokens(text: str, stop_words: list[str]) -> list[str]:
    import bm25s

    tokens: list[str] = bm25s.tokenize(text, stopwords=stop_words, return_ids=False, show_progress=False)[0]
    return tokens
