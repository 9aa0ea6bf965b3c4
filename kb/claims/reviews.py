"""Remember which sentences a speaker of their language has read; a changed sentence counts as unread."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources.abc import Traversable

from core.errors import KnowledgeBaseError

FILE = "reviewed.txt"


@dataclass(frozen=True)
class Reviews:
    """The marks of the sentences that were read; a mark is the first half of a SHA-256."""

    marks: frozenset[str] = frozenset()

    def provisional(self, text: str, language: str) -> bool:
        """Tell whether a sentence still awaits a speaker; English sentences don't, as they were not translated."""
        return language != "en" and mark(text, language) not in self.marks

    def __or__(self, other: Reviews) -> Reviews:
        """Return the reviews of both."""
        return Reviews(self.marks | other.marks)

    def with_read(self, sentences: Iterable[tuple[str, str]]) -> Reviews:
        """Return the reviews with further sentences, given as pairs of text and language."""
        return Reviews(self.marks | {mark(text, language) for text, language in sentences})


def mark(text: str, language: str) -> str:
    """Return the mark of a sentence."""
    return hashlib.sha256(f"{language}: {text}".encode()).hexdigest()[:32]


def load_reviews(folder: Traversable) -> Reviews:
    """Read the marks in a folder of claims; none if it is missing. Raises KnowledgeBaseError if it can't be read."""
    file = folder / "claims" / FILE
    if not file.is_file():
        return Reviews()
    try:
        lines = file.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise KnowledgeBaseError(f"{file} can't be read: {error}. Restore it, or delete it to begin anew.") from error
    return Reviews(frozenset(lines))


def write_reviews(reviews: Reviews) -> str:
    """Return the text for the file: one mark per line, sorted, so that two curators' changes merge."""
    return "".join(f"{line}\n" for line in sorted(reviews.marks))
