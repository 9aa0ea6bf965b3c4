"""What a file of claims and a file of facts hold."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from core.domain import AttackKind, Intent, Record, TargetGroup

Language = Literal["en", "es", "it", "eu"]
LANGUAGES: tuple[Language, ...] = ("en", "es", "it", "eu")
"""Languages in which claims, counter-claims and facts are on file; English is the one they are written in first."""

Line = Annotated[str, Field(min_length=1, pattern=r"^\S(.*\S)?$")]
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Lines = dict[Language, tuple[Line, ...]]


class _Entry(Record):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FiledClaim(_Entry):
    """A claim of hateful posts: how they word it, what answers it in each intent, and the facts behind the answers.

    `gist` names the claim for a moderator, in plain words that nobody takes for our own. `common` claims have three
    counter-claims an intent, others one at least. `instead_of` names a wider claim of the same group that nearly every
    post which makes this one makes too. Where this one is likely in itself and at least a quarter as likely, it answers
    (`kb.claims.matching`); like a claim that asserts something, it must reach `kb.assertion_from`.
    `least` is the probability from which a post counts as making the claim, where that is more than the settings ask.
    """

    id: Name
    kind: AttackKind
    gist: dict[Language, Line]
    common: bool = False
    instead_of: Name | None = None
    least: float = Field(0.0, ge=0.0, le=1.0)
    wordings: Lines
    counter: dict[Intent, Lines]
    facts: tuple[Name, ...]


class FactKind(StrEnum):
    """What a fact is: something found out, a rule in force, or something that happened."""

    FINDING = "finding"
    NORM = "norm"
    HISTORY = "history"


class FiledFact(_Entry):
    """A sentence that can be said as it stands, with its source, in each language.

    `short` is its form for platforms with tight limits. `speaker` is the glossary's key of who says it; every form of
    the sentence names them. `figures` are the numbers that the source gives. `research` names the record of the
    research that the fact comes from, where its decisive words are kept; `document` and `terms` say where a norm
    stands.
    """

    id: Name
    kind: FactKind
    groups: Annotated[tuple[TargetGroup, ...], Field(min_length=1)]
    region: Line
    strength: Literal["strong", "fair"]
    secondhand: bool = False
    speaker: Name
    institution: Line
    title: Line
    symbol: str = ""
    locator: str = ""
    year: Annotated[int, Field(ge=1945, le=2100)]
    url: Annotated[str, Field(pattern=r"^https://\S+$")]
    seen_at: Annotated[str, Field(pattern=r"^(https://\S+)?$")] = ""
    research: str = ""
    document: str = ""
    terms: tuple[Line, ...] = ()
    figures: tuple[Line, ...] = ()
    reviewed_at: date
    superseded_by: Name | None = None
    text: dict[Language, Line]
    short: dict[Language, Line]


class Speaker(_Entry):
    """A source's names in each language, one of which a fact's sentence holds, in any inflection of its end."""

    en: tuple[Line, ...]
    es: tuple[Line, ...]
    it: tuple[Line, ...]
    eu: tuple[Line, ...]

    def names(self, language: Language) -> tuple[str, ...]:
        """Return the names in a language."""
        names: dict[Language, tuple[str, ...]] = {"en": self.en, "es": self.es, "it": self.it, "eu": self.eu}
        return names[language]
