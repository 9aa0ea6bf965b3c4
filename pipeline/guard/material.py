"""Take a reply, its post and its evidence apart once, for all checks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Self

from core.domain import Claim, Evidence, FlaggedPost, Grounding, Intent, TargetGroup, Triage
from pipeline import sentences
from pipeline.guard.on_file import Wording, quotes
from pipeline.guard.words import content, fold, words
from pipeline.languages import DEFAULT, UNKNOWN, packs

LONGEST_READ = 5000
"""Most characters of a reply that are read; a longer one never passes, so that hostile text can't hold up the desk."""


@dataclass(frozen=True)
class GuardContext:
    """What a reply is judged against: the post, its claims, its evidence and the replies it must not repeat.

    `language` is ISO 639-1, or `und`, for which an English reply is expected. `year` is the year of the check, up to
    which spans of time are computed.
    """

    post: FlaggedPost
    language: str
    intent: Intent = Intent.INFORMATIVE
    evidence: tuple[Evidence, ...] = ()
    groups: tuple[TargetGroup, ...] = ()
    avoid: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    year: int = field(default_factory=lambda: datetime.now(UTC).year)

    @classmethod
    def of(
        cls,
        post: FlaggedPost,
        triage: Triage | None,
        grounding: Grounding | None,
        intent: Intent,
        avoid: tuple[str, ...],
    ) -> Self:
        """Return the context for a reply to a case; a case may be judged before its triage or grounding."""
        return cls(
            post=post,
            language=triage.language if triage else post.language or UNKNOWN,
            intent=intent,
            evidence=grounding.evidence if grounding else (),
            groups=tuple(score.group for score in triage.groups) if triage else (),
            avoid=avoid,
            claims=grounding.claims if grounding else (),
        )

    @property
    def reply_language(self) -> str:
        """Return the language a reply should be in."""
        return DEFAULT if self.language == UNKNOWN else self.language


@dataclass(frozen=True)
class Part:
    """One sentence of a reply; `quoted` tells whether it is evidence or a counter-claim on file, word for word."""

    text: str
    folded: str
    words: tuple[str, ...]
    content: frozenset[str]
    quoted: bool


@dataclass(frozen=True)
class Statement:
    """One evidence statement, taken apart.

    `wordings` are its text, each sentence of it, and its short form. `named` has the content stems of its source:
    institution, title, symbol, locator and year.
    """

    evidence: Evidence
    words: tuple[str, ...]
    wordings: tuple[Wording, ...]
    content: frozenset[str]
    named: frozenset[str]


@dataclass(frozen=True)
class Material:
    """A reply taken apart, with its post and its evidence; everything is stemmed in `language`, the reply's.

    `text` is cut to LONGEST_READ; `size` counts the characters of the whole reply. `post` is the folded post.
    """

    text: str
    size: int
    language: str
    parts: tuple[Part, ...]
    statements: tuple[Statement, ...]
    post: str
    post_words: tuple[str, ...]
    post_content: frozenset[str]

    @property
    def supporting(self) -> frozenset[str]:
        """Return the content stems of all evidence and its sources."""
        return frozenset[str]().union(*(statement.content | statement.named for statement in self.statements))


def material(text: str, context: GuardContext) -> Material:
    """Take `text` and its context apart; lone surrogates become replacement characters."""
    size = len(text)
    text = text[:LONGEST_READ].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    language = context.reply_language
    statements = tuple(_statement(evidence, language) for evidence in context.evidence)
    post_words = _post_words(context.post.text)
    counters = [counter.text for claim in context.claims for counter in claim.counter_claims]
    on_file = frozenset(map(Wording.of, counters))
    split = _sentences(text, counters, language)
    parts = tuple(_part(sentence, statements, on_file, language) for sentence in split)
    post = fold(context.post.text)
    return Material(text, size, language, parts, statements, post, post_words, content(post_words, language))


def _sentences(text: str, counters: Iterable[str], language: str) -> tuple[str, ...]:
    """Split a text; a counter-claim on file at its start or end stays one sentence, even if an abbreviation ends it."""
    for counter in counters:
        if text.startswith(f"{counter} "):
            return (counter, *sentences.split(text.removeprefix(counter), language))
        if text.endswith(f" {counter}"):
            return (*sentences.split(text.removesuffix(counter), language), counter)
    return sentences.split(text, language)


def _part(text: str, statements: tuple[Statement, ...], on_file: frozenset[Wording], language: str) -> Part:
    own = words(text)
    quoted = Wording.of(text) in on_file or any(
        quotes(text, statement.wordings, statement.named, language) for statement in statements
    )
    return Part(text, fold(text), own, content(own, language), quoted)


@lru_cache(maxsize=2048)
def _statement(evidence: Evidence, language: str) -> Statement:
    folded = words(evidence.text)
    source = evidence.source
    source_words = words(f"{source.institution} {source.title} {source.symbol} {source.locator} {source.year}")
    texts = (evidence.text, *sentences.split(evidence.text, evidence.language), *filter(None, [evidence.short]))
    wordings = tuple(Wording.of(text) for text in texts)
    return Statement(evidence, folded, wordings, content(folded, language), content(source_words, language))


@lru_cache(maxsize=8)
def _post_words(text: str) -> tuple[str, ...]:
    # The cache serves the drafts of one post and is small, as an erased post must not stay in memory.
    return words(text)


def with_citation(evidence: Evidence) -> str:
    """Return a statement of evidence with the parts of its source that may hold figures."""
    source = evidence.source
    return f"{evidence.text} | {source.title} | {source.symbol} | {source.locator} | {source.year}"


def terms_pattern(terms: Iterable[str]) -> str:
    """Return a regular expression for lexicon terms over folded text; a trailing `*` stands for any ending."""
    folded = (re.escape(fold(term)).replace(r"\*", r"\w*").replace(r"\ ", r"\s+") for term in terms)
    return "|".join(sorted(folded, key=len, reverse=True))


@lru_cache(maxsize=1)
def group_pattern() -> re.Pattern[str]:
    """Return a pattern, over folded text, for the names of all target groups in all languages, since posts mix them."""
    terms = [term for pack in packs().values() for listed in pack.groups.values() for term in listed]
    return re.compile(rf"\b(?:{terms_pattern(terms)})\b")


@lru_cache(maxsize=256)
def group_stems(text: str, language: str) -> frozenset[str]:
    """Return the content stems of the target groups that `text` names."""
    return content((word for name in group_pattern().findall(fold(text)) for word in words(name)), language)
