"""What the pipeline needs for one language: words, cues, templates and rules, from `<code>.toml` beside this file.

Words, terms and patterns are compared with folded text (`pipeline.guard.words.fold`): lower case, no accents. Words and
terms are folded when read; patterns must be written folded. A trailing `*` in a term stands for any ending.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from core.domain import Intent, TargetGroup


def _compiling(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"'{pattern}' is no regular expression: {error}") from None
    return pattern


def _split(words: object) -> object:
    return tuple(words.split()) if isinstance(words, str) else words


Pattern = Annotated[str, AfterValidator(_compiling)]
Patterns = Annotated[tuple[Pattern, ...], Field(min_length=1)]
"""At least one pattern, as an empty list of alternatives would match everywhere."""
WordList = Annotated[tuple[str, ...], BeforeValidator(_split)]
"""Words in one string, separated by white space."""
Position = Literal["after", "before", "either"]


class Level(StrEnum):
    """How far a language can be relied on."""

    FULL = "full"
    PROVISIONAL = "provisional"
    """Not yet reviewed by a speaker."""


class PackPart(BaseModel):
    """One table of a pack; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class WordOrder(PackPart):
    """The order of things in a sentence.

    - `predicate`: where what is said of a group stands relative to the group's name
    - `negation`: where a negation stands relative to what it reverses
    """

    predicate: Position
    negation: Position


class Words(PackPart):
    """Words by their part in a text.

    - `function`: words without content of their own
    - `claim`: the vocabulary of rights, fairness and disagreement, which a reply may use without evidence
    - `irregular`: forms that no stemmer joins, each with its base
    - `spelling`: patterns of one way to spell, each with what another way has there
    """

    function: WordList
    claim: WordList
    irregular: Mapping[str, str] = Field(default_factory=dict)
    spelling: Mapping[str, str] = Field(default_factory=dict)


class Numbers(PackPart):
    """How numbers are written in words, all of them folded.

    - `percent`: patterns for "percent"; `percent_position`: where they stand relative to the figure
    - `magnitudes`: words that multiply the number before them
    - `words`: words that are added to the number before them where its digits allow; after `teens_after`, up to
      nineteen ("soixante-dix")
    - `alone`: words that join with no other ("half")
    - `doubtful`: words that are more often something else ("one" is a pronoun), and count only beside another number
      word or a percent
    - `joiners`: words that may stand inside a number ("treinta y uno"); with `unit_first`, the ten follows them
    - `compounds`: whether a number is written as one word ("zweiundneunzig")
    """

    percent: Patterns
    percent_position: Position
    joiners: tuple[str, ...] = ()
    unit_first: bool = False
    compounds: bool = False
    teens_after: tuple[int, ...] = ()
    words: Mapping[str, float]
    doubtful: Mapping[str, float]
    alone: Mapping[str, float] = Field(default_factory=dict)
    magnitudes: Mapping[str, float]


class Stance(PackPart):
    """Cues that tell for or against a post; each pattern begins where a word begins.

    - `agreement` endorses the post; `opening` does at the start of a sentence, `endorsing_despite_negation` even beside
      a negation
    - `refutation` says that a claim does not hold; `doubt` asks for its grounds
    - `debunk` calls something untrue; `sources` are what only a hostile reply would call so
    - `negation` reverses something; `contracted_negation` does, too, with patterns that mark their own word ends
    - `negated_denials` reverse a negated right once more ("are not denied rights")
    - `affirms` speaks up for rights, equality, dignity or respect
    - `denies` belittles a right without a "not"; `rights` are what a hostile reply would deny to a group
    - `pronoun` stands for a group
    - `hostile` is what nobody may state of a whole group, `adjective` the same right before its name; slurs are left to
      the toxicity head
    """

    agreement: Patterns
    opening: Patterns
    endorsing_despite_negation: Patterns
    refutation: Patterns
    doubt: Patterns
    debunk: Patterns
    sources: Patterns
    negation: Patterns
    contracted_negation: tuple[Pattern, ...] = ()
    negated_denials: Patterns
    affirms: Patterns
    denies: Patterns
    rights: Patterns
    pronoun: Patterns
    hostile: Patterns
    adjective: tuple[Pattern, ...] = ()


class Escalation(PackPart):
    """Patterns for posts that people must see, by the rules in `data/escalate.toml`.

    They are searched in text of any language, folded by `pipeline.normalise.fold_disguised`. `{name}` stands for the
    alternatives under that name in `words`. `idioms` are taken out before the patterns are tried.
    """

    idioms: tuple[Pattern, ...] = ()
    patterns: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _compiles(self) -> Escalation:
        for rule in self.patterns:
            for pattern in self.expanded(rule):
                _compiling(pattern)
        return self

    def expanded(self, rule: str) -> tuple[str, ...]:
        """Return the patterns of one rule with the word lists filled in."""
        return tuple(self._filled_in(pattern) for pattern in self.patterns.get(rule, ()))

    def _filled_in(self, pattern: str) -> str:
        for name, alternatives in self.words.items():
            pattern = pattern.replace(f"{{{name}}}", f"(?:{'|'.join(alternatives)})")
        return pattern


class LanguagePack(PackPart):
    """All that the pipeline knows of one language.

    - `stemmer`: a Snowball algorithm
    - `possessives`, `adverb_endings`: endings of words
    - `conjunctions`: patterns for words that separate clauses
    - `abbreviations`: those that a model may write; `unfinished`: those after which a sentence goes on (without the
      final point)
    - `dependent_openings`: beginnings of sentences that can't stand without the one before
    - `source_words`: patterns for words that name a source; `locators`: words for places in it
    - `appeals`: words that claim a finding and so must occur in the evidence
    - `never_names`: words that are capitalised without being names
    - `capitalised_nouns`: whether nouns are capitalised, so that a capital says little
    - `countries`: terms for countries and other places, which are names at the start of a sentence, too
    - `insults`: terms for mild insults
    - `refusals`: patterns for a model that speaks of itself; `reply_labels`: what it may write before its reply
    - `refers_back`: patterns for words that stand for people named before, as "they" does
    - `spelled_dot`: the word that hides a link ("example (dot) org")
    - `groups`: neutral terms for those attacked; `people`: what a template calls them
    - `templates`: the composer's, by intent and by group ("any" for all); `{evidence}` is a sentence of evidence,
      `{people}` the group
    """

    name: str
    level: Level
    stemmer: str
    possessives: tuple[str, ...] = ()
    adverb_endings: tuple[str, ...] = ()
    conjunctions: Patterns
    abbreviations: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    dependent_openings: tuple[str, ...] = ()
    source_words: Patterns
    locators: tuple[str, ...] = ()
    appeals: tuple[str, ...]
    never_names: tuple[str, ...] = ()
    capitalised_nouns: bool = False
    countries: WordList
    insults: tuple[str, ...]
    refusals: Patterns
    reply_labels: tuple[str, ...]
    refers_back: Patterns
    spelled_dot: str = Field(min_length=1)
    order: WordOrder
    words: Words
    numbers: Numbers
    groups: Mapping[TargetGroup, tuple[str, ...]]
    people: Mapping[TargetGroup, str]
    templates: Mapping[Intent, Mapping[TargetGroup | Literal["any"], tuple[str, ...]]]
    stance: Stance
    escalation: Escalation = Field(default_factory=Escalation)

    @model_validator(mode="after")
    def _is_complete(self) -> LanguagePack:
        without_any = [intent.value for intent in Intent if not self.templates.get(intent, {}).get("any")]
        nameless = [group.value for group in TargetGroup if group not in self.people]
        if without_any or nameless:
            raise ValueError(f"no templates for any group: {without_any}; no entry in people: {nameless}")
        return self
