"""The catalogue headings, themes and instruments by which each target group is found (`kb/keywords.toml`)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

from core.domain import Record, TargetGroup
from core.errors import KnowledgeBaseError
from kb.extract.subjects import GroupTerms


class GroupKeywords(Record):
    """One group's words; `celex` lists the acts taken whatever their headings."""

    terms: tuple[str, ...]
    synonyms: tuple[str, ...]
    instruments: tuple[str, ...]
    un_subjects: tuple[str, ...]
    eurovoc: tuple[str, ...]
    fra_themes: tuple[str, ...]
    celex: tuple[str, ...] = ()


class Keywords:
    """All groups' words, which show whom a catalogue record is about."""

    def __init__(self, groups: Mapping[TargetGroup, GroupKeywords]) -> None:
        self.groups = groups
        self._words = GroupTerms(
            {group: (*words.terms, *words.synonyms, *words.instruments) for group, words in groups.items()}
        )
        self._headings = {group: _headings(words.un_subjects) for group, words in groups.items()}

    @classmethod
    def load(cls, entry: Traversable | None = None) -> Keywords:
        """Read the shipped keywords, or others; raises KnowledgeBaseError if they can't be read or are incomplete."""
        entry = entry or files("kb") / "keywords.toml"
        try:
            data = tomllib.loads(entry.read_text(encoding="utf-8"))
            return cls({group: GroupKeywords.model_validate(data[group.value]) for group in TargetGroup})
        except (OSError, ValueError, KeyError) as error:
            raise KnowledgeBaseError(
                f"The keywords of the target groups can't be used: {error!r}. Correct {entry}, or "
                "install the package again."
            ) from error

    def by_subjects(self, subjects: Iterable[str], text: str = "") -> tuple[TargetGroup, ...]:
        """Return the groups that UN catalogue headings name or, failing that, title and abstract."""
        headings = "\n".join(subjects).upper()
        named = tuple(group for group, pattern in self._headings.items() if pattern.search(headings))
        return named or self._words.named_in(text)

    def by_themes(self, themes: Iterable[str], title: str, text: str = "") -> tuple[TargetGroup, ...]:
        """Return the groups of the FRA themes and of the title or, failing that, the one that the text names most."""
        seen = set(themes)
        listed = [group for group, words in self.groups.items() if not seen.isdisjoint(words.fra_themes)]
        return self.merge(listed, self._words.named_in(title)) or self._words.named_in(text)[:1]

    def by_celex(self, celex: str, title: str, known: Iterable[TargetGroup] = ()) -> tuple[TargetGroup, ...]:
        """Return the groups that an act is listed under, was found by, or names in its title."""
        listed = [group for group, words in self.groups.items() if celex in words.celex]
        return self.merge(known, listed, self._words.named_in(title))

    @staticmethod
    def merge(*groups: Iterable[TargetGroup]) -> tuple[TargetGroup, ...]:
        """Return all the groups once, in the order of TargetGroup."""
        merged = {group for several in groups for group in several}
        return tuple(group for group in TargetGroup if group in merged)


def _headings(subjects: Iterable[str]) -> re.Pattern[str]:
    words = "|".join(re.escape(subject.upper()) for subject in subjects)
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)")
