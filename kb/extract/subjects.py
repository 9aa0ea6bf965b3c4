"""Determine a paragraph's language and the target groups that it speaks of."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

from core.domain import TargetGroup
from core.errors import KnowledgeBaseError
from models.language_id import language_identifier

SURE = 0.95
"""Probability from which a paragraph's own language counts; below it, the document's language does."""
_LANGUAGES = (
    "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fi", "fr", "ga", "gl", "hr", "hu", "it", "lt",
    "lv", "mt", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "tr", "uk", "zh",
)  # fmt: skip
"""Languages of the institutions' documents, and those of Spain and its neighbours; more would only cause mistakes."""
_LISTS = ("terms", "synonyms", "instruments")


class GroupTerms:
    """The words by which texts name each target group."""

    def __init__(self, terms: Mapping[TargetGroup, Iterable[str]]) -> None:
        self._patterns = {group: _pattern(words) for group, words in terms.items() if any(words)}

    @classmethod
    def load(cls, entry: Traversable | None = None) -> GroupTerms:
        """Read the shipped `kb/keywords.toml`, or another file; raises KnowledgeBaseError if it can't be read."""
        entry = entry or files("kb") / "keywords.toml"
        try:
            data = tomllib.loads(entry.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise KnowledgeBaseError(
                f"The keywords of the target groups can't be read: {error}. Install the package again."
            ) from error
        tables = {group: data.get(group.value, {}) for group in TargetGroup}
        return cls(
            {group: [word for name in _LISTS for word in table.get(name, ())] for group, table in tables.items()}
        )

    def named_in(self, text: str) -> tuple[TargetGroup, ...]:
        """Return the groups that a text names, the one named most often first."""
        plain = text.replace("’", "'").replace("‑", "-")
        counts = {group: len(pattern.findall(plain)) for group, pattern in self._patterns.items()}
        return tuple(sorted((group for group in counts if counts[group]), key=lambda group: -counts[group]))

    def groups_of(self, text: str, title: str, document_groups: tuple[TargetGroup, ...]) -> tuple[TargetGroup, ...]:
        """Return a paragraph's groups: those it names, else its document's, else its title's, else `other`."""
        return self.named_in(text) or document_groups or self.named_in(title) or (TargetGroup.OTHER,)


def language_of(text: str) -> tuple[str, float]:
    """Return the likeliest language, ISO 639-1, and its probability."""
    language, probability = language_identifier(*_LANGUAGES).classify(text)
    return str(language), float(probability)


def language_in(text: str, document: str) -> str:
    """Return a paragraph's language: its own if that is sure, else the document's."""
    language, probability = language_of(text)
    return language if probability >= SURE or not document else document


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for any of the words or phrases, whole, singular or plural; terms in capitals match only so."""
    longest = sorted({word.replace("’", "'") for word in words}, key=len, reverse=True)
    loose = [re.escape(word).replace(r"\ ", r"[\s-]") for word in longest if not word.isupper()]
    strict = [re.escape(word) for word in longest if word.isupper()]
    branches = [*(f"(?i:{word})(?:e?s)?" for word in loose), *strict]
    return re.compile(rf"(?<!\w)(?:{'|'.join(branches)})(?!\w)")
