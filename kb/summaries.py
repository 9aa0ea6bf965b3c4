"""Shorten paragraphs to two sentences, once for each paragraph, model and prompt, and keep the result.

The summaries have a file of their own beside the versions of a knowledge base, with the text's digest as key, so that a
rebuild keeps them. A short text of one or two sentences is its own summary; a long one is not, as a paragraph of a
resolution is often one sentence of a hundred words.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import re
import sqlite3
import threading
from collections.abc import Collection, Iterable
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from core.errors import KnowledgeBaseError, ModelUnavailable
from kb.paragraphs import sentences
from models.chat import Message, quoted

if TYPE_CHECKING:
    from models.chat import ChatModel

log = logging.getLogger(__name__)

FILE = "summaries.sqlite"
MOST = 2
"""Most sentences of a summary."""
LONG = 60
"""Words above which a text is shortened even if it has few sentences."""
LONGEST = 4_000
"""Characters of a paragraph that the model reads; paragraphs of documents have at most half as many."""
MAX_TOKENS = 160
TRIES = 2
WAIT_S = 5.0
AWAY_S = 300.0
"""How long a model is not asked again after it was away, as every post would have to wait for its timeouts."""

_TABLE = """CREATE TABLE IF NOT EXISTS summary (
    text TEXT NOT NULL, model TEXT NOT NULL, prompt TEXT NOT NULL, summary TEXT NOT NULL,
    PRIMARY KEY (text, model, prompt)
) STRICT, WITHOUT ROWID"""
_PROMPT = (
    "Summarise the paragraph from an official document in exactly two sentences. Keep who says it, and every figure, "
    "year and article number you mention exactly as it stands there. Add nothing that it does not say."
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class SummaryStore:
    """Summaries in one SQLite file that many processes may read and write.

    If the folder can't be written, kept summaries are read, and new ones last as long as the process.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = threading.Lock()
        self.lasting = os.access(folder, os.W_OK) and (not self._path.exists() or os.access(self._path, os.W_OK))
        where = self._path if self.lasting else ":memory:"
        self._connection = sqlite3.connect(where, timeout=WAIT_S, check_same_thread=False)
        try:
            if not self.lasting and self._path.exists():
                _copy(self._path, self._connection)
            self._connection.execute(_TABLE)
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise KnowledgeBaseError(
                f"{self._path} can't be used: {error}. If that lasts, delete it: `rejoinder kb summarise` mends it."
            ) from error

    def get(self, texts: Collection[str], model: str) -> dict[str, str]:
        """Return the kept summaries by their text, those of this model and of the present prompt."""
        keys = {_digest(text): text for text in texts}
        with self._lock:
            rows = self._connection.execute(
                "SELECT text, summary FROM summary WHERE model = ? AND prompt = ? AND text IN "
                "(SELECT value FROM json_each(?))",
                (model, _digest(_PROMPT), json.dumps(list(keys))),
            ).fetchall()
        return {keys[key]: summary for key, summary in rows}

    def put(self, model: str, summaries: Iterable[tuple[str, str]]) -> None:
        """Keep (text, summary) pairs; a later one replaces an earlier one."""
        rows = [(_digest(text), model, _digest(_PROMPT), summary) for text, summary in summaries]
        with self._lock, self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO summary VALUES (?, ?, ?, ?)", rows)

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._connection.close()


class Summariser:
    """A writer and keeper of summaries made by `model`. Safe to call from many tasks of one event loop.

    Without `chat`, only kept summaries are used.
    """

    def __init__(self, store: SummaryStore, model: str, chat: ChatModel | None = None) -> None:
        self._store, self._model, self._chat = store, model, chat
        self._away_until = 0.0
        # Posts that need the same paragraph at once wait for one summary; a lock is forgotten when nobody holds it.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Return those texts that are too long and have no summary yet."""
        long = [text for text in texts if not is_short(text)]
        summaries = self._store.get(long, self._model)
        return [text for text in long if text not in summaries]

    async def summary(self, text: str, language: str = "en") -> str:
        """Return the text in at most two sentences, or unchanged if there is neither a summary nor a chat model.

        Raises ModelUnavailable or ModelRefused if the model can't be asked; a model that was away is not asked again
        for AWAY_S. If a summary was cut off or has a figure that the text does not have, the model is asked once more;
        if that fails too, the text's first two sentences are used. If the store can't be read or written, that is
        logged, and the summary is not kept.
        """
        if is_short(text, language):
            return text
        async with self._turns.setdefault(text, asyncio.Lock()):
            if remembered := self._remembered(text):
                return remembered
            if self._chat is None or monotonic() < self._away_until:
                return text
            try:
                summary = await self._ask(self._chat, text, language)
            except ModelUnavailable:
                self._away_until = monotonic() + AWAY_S
                raise
            self._remember(text, summary)
            return summary

    def _remembered(self, text: str) -> str:
        try:
            return self._store.get([text], self._model).get(text, "")
        except sqlite3.Error as error:
            log.warning("Kept summaries can't be read: %s", error)
            return ""

    def _remember(self, text: str, summary: str) -> None:
        try:
            self._store.put(self._model, [(text, summary)])
        except sqlite3.Error as error:
            log.warning("A summary is not kept: %s", error)

    async def _ask(self, chat: ChatModel, text: str, language: str) -> str:
        messages = [Message("system", _PROMPT), Message("user", quoted(text, LONGEST))]
        for attempt in range(TRIES):
            answers = await chat.complete(messages, temperature=0.0, max_tokens=MAX_TOKENS, seed=attempt)
            summary = _first_sentences(answers[0].text, language)
            if answers[0].finish_reason == "stop" and is_faithful(summary, text):
                return summary
        return _first_sentences(text, language)


def is_short(text: str, language: str = "en") -> bool:
    """Tell whether a text is its own summary."""
    return len(text.split()) <= LONG and len(sentences(text, language)) <= MOST


def is_faithful(summary: str, text: str) -> bool:
    """Tell whether a summary is not empty and all its figures occur in the text."""
    return bool(summary) and set(_NUMBER.findall(summary)) <= set(_NUMBER.findall(text))


def _copy(path: Path, into: sqlite3.Connection) -> None:
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", timeout=WAIT_S, uri=True)) as kept:
        kept.backup(into)


def _first_sentences(text: str, language: str) -> str:
    return " ".join(sentences(" ".join(text.split()), language)[:MOST])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
