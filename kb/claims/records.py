"""The records in files of claims and in files of facts."""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from core.domain import AttackKind, Intent, Record, TargetGroup

Language = Literal["en", "es", "it", "eu"]
LANGUAGES: tuple[Language, ...] = ("en", "es", "it", "eu")
"""Languages of the claims, counter-claims and facts on file; each is written in English first."""

Line = Annotated[str, Field(min_length=1, pattern=r"^\S(.*\S)?$")]
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Lines = dict[Language, tuple[Line, ...]]


class _Entry(Record):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FiledClaim(_Entry):
    """A claim of hateful posts: how they word it, what answers it in each intent, and the facts behind the answers.

    - `gist` names the claim for a moderator, in plain words that nobody could mistake for our own opinion.
    - `common` claims need three counter-claims per intent, others at least one.
    - `instead_of` names a wider claim of the same group that nearly every post with this claim makes, too. If this
      claim is likely enough in itself and at least a quarter as likely as the wider one, it is answered instead
      (`kb.claims.matching`). Like a claim that asserts something, it must reach `kb.assertion_from`.
    - `finding_first` is the reason why a finding comes first though the claim asserts nothing to look up; see
      `kb.claims.checking`.
    - `least` is the probability from which a post counts as making the claim, if that is more than the settings
      require.
    - `least_hate` is the probability of hate, by language, below which it is unsure whether the claim's answer fits:
      its words are also said of nobody.
    """

    id: Name
    kind: AttackKind
    gist: dict[Language, Line]
    common: bool = False
    instead_of: Name | None = None
    finding_first: Line | None = None
    least: float = Field(0.0, ge=0.0, le=1.0)
    least_hate: dict[Language, Annotated[float, Field(ge=0.0, le=1.0)]] = Field(default_factory=dict)
    wordings: Lines
    counter: dict[Intent, Lines]
    facts: tuple[Name, ...]


class FactKind(StrEnum):
    """The kind of a fact: a finding, a rule in force, or an event of the past."""

    FINDING = "finding"
    NORM = "norm"
    HISTORY = "history"


class FiledFact(_Entry):
    """A sentence that can be said as it stands, with its source, in each language.

    - `short` is its form for platforms with tight limits.
    - `region` is where it holds: a name in the glossary's list, which is shown to moderators.
    - `speaker` is the glossary's key for who says it; every form of the sentence names that speaker.
    - `figures` are the numbers that it states, other than those by which the source is named.
    - `research` names the research record that the fact comes from, which keeps the decisive words.
    - `quote` is the decisive words themselves, where no research record has them.
    - `document` and `terms` say where a norm is found.
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
    quote: str = ""
    document: str = ""
    terms: tuple[Line, ...] = ()
    figures: tuple[Line, ...] = ()
    reviewed_at: date
    superseded_by: Name | None = None
    text: dict[Language, Line]
    short: dict[Language, Line]


class Speaker(_Entry):
    """A source's names in each language; a fact's sentence contains one of them, perhaps with an inflected ending."""

    en: tuple[Line, ...]
    es: tuple[Line, ...]
    it: tuple[Line, ...]
    eu: tuple[Line, ...]

    def names(self, language: Language) -> tuple[str, ...]:
        """Return the names in a language."""
        names: dict[Language, tuple[str, ...]] = {"en": self.en, "es": self.es, "it": self.it, "eu": self.eu}
        return names[language]
