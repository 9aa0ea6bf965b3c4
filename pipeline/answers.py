"""Replies in words on file: a counter-claim to the claim that the post makes, and a fact that backs it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import TypeVar

from core.domain import Claim, Evidence
from pipeline.guard import GuardContext
from pipeline.guard.words import content, words
from pipeline.languages import pack

Item = TypeVar("Item")

ENOUGH = 24
"""Replies to a claim that keep each to a tenth of a campaign's posts; with fewer, a fact may come first too.

Readers like that order less (docs/drafting.md).
"""
ALIKE, FAVOURED = 0.25, 6
"""Pairs whose preference lies that near to the best one's take turns, and so do the FAVOURED best at least."""

SAME_THING = 0.5
"""Share of content words in common from which two sentences say one thing; twelve pairs on file of a thousand do."""


@dataclass(frozen=True)
class Answer:
    """A reply of two sentences on file, the claim that it answers and the fact that it states."""

    text: str
    claim: str
    fact: str


def answers(context: GuardContext, limit: int, number: int) -> Iterator[Answer]:
    """Yield the replies of up to `limit` characters for the post's claims, the surest claim's first.

    The pairs of counter-claim and fact rotate with the draft's number and from a place given by the case's key, so that
    many posts with one claim don't all get one text. Of a claim's pairs those come first of which neither sentence was
    said before, then those with one new sentence; a pair that was said together is left out. Among those, the ones that
    moderators prefer come first, where that was learned; a pair that says one thing twice comes after the others.
    """
    turn = place(context.post.key) + number - 1
    earlier = (*context.avoid, *context.post.context)
    for claim in context.claims:
        pairs = _pairs(claim, context, limit)
        telling = [pair for pair in pairs if not pair.says_it_twice()]
        repeating = [pair for pair in pairs if pair.says_it_twice()]
        pairs = _favoured_first([*rotated(telling, turn), *rotated(repeating, turn)])
        spoken = {sentence for pair in pairs for sentence in pair.sentences if _stands_in(sentence, earlier)}
        new = [pair for pair in pairs if not pair.said_together(earlier)]
        for pair in sorted(new, key=lambda pair: (pair.said_before(spoken), pair.says_it_twice())):
            yield Answer(pair.text, claim.id, pair.fact.id)


def place(key: str) -> int:
    """Return a number that a case always gets."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big")


def rotated(items: Sequence[Item], by: int) -> list[Item]:
    """Return the items, begun at another one."""
    by %= len(items) or 1
    return [*items[by:], *items[:by]]


@dataclass(frozen=True)
class _Pair:
    """A counter-claim and a fact, in the `form` that is told, and how much moderators prefer the two, as log odds."""

    counter: str
    fact: Evidence
    form: str
    preference: float
    fact_first: bool = False

    @property
    def text(self) -> str:
        return f"{self.form} {self.counter}" if self.fact_first else f"{self.counter} {self.form}"

    @property
    def sentences(self) -> tuple[str, ...]:
        return (self.counter, *forms(self.fact))

    def is_needless_headline(self, limit: int) -> bool:
        """Tell whether the fact is told like a headline ("95 studies: …") although its whole text would fit."""
        headline = self.form != self.fact.text and ": " in self.form
        return headline and len(f"{self.counter} {self.fact.text}") <= limit

    def says_it_twice(self) -> bool:
        """Tell whether most content words of the shorter sentence stand in the other one too."""
        language = self.fact.language
        counter, form = _content_words(self.counter, language), _content_words(self.form, language)
        return len(counter & form) >= SAME_THING * max(1, min(len(counter), len(form)))

    def said_together(self, earlier: Sequence[str]) -> bool:
        """Tell whether one text has both, in whatever order and form."""
        return any(self.counter in text and _stands_in(form, (text,)) for text in earlier for form in forms(self.fact))

    def said_before(self, spoken: set[str]) -> int:
        """Count which of the two were said; `spoken` has the sentences that were."""
        return (self.counter in spoken) + any(form in spoken for form in forms(self.fact))


def _pairs(claim: Claim, context: GuardContext, limit: int) -> list[_Pair]:
    """Return the pairs of up to `limit` characters, each fact in each of its forms.

    A counter-claim that points back ("This …") doesn't follow a fact.
    """
    language = context.reply_language
    counters = [counter for counter in claim.counter_claims if counter.intent is context.intent]
    facts = [fact for fact in context.evidence if claim.id in fact.claims and fact.language == language]
    tellings = [(fact, form) for fact in facts for form in forms(fact)]
    backed = [
        _Pair(counter.text, fact, form, counter.preference + fact.preference)
        for (fact, form), counter in product(tellings, counters)
    ]
    fitting = [pair for pair in backed if len(pair.text) <= limit and not pair.is_needless_headline(limit)]
    if len(fitting) >= ENOUGH:
        return fitting
    pointing_back = pack(language).dependent_openings
    reversible = [pair for pair in fitting if not pair.counter.startswith(pointing_back)]
    return [*fitting, *(replace(pair, fact_first=True) for pair in reversible)]


def _favoured_first(pairs: Sequence[_Pair]) -> list[_Pair]:
    """Return the pairs that moderators prefer before the others; both keep their order."""
    best = sorted((pair.preference for pair in pairs), reverse=True)
    least = min(best[0] - ALIKE, best[min(FAVOURED, len(best)) - 1]) if best else 0.0
    return sorted(pairs, key=lambda pair: pair.preference < least)


def forms(fact: Evidence) -> tuple[str, ...]:
    """Return the ways in which a fact is told: its text, and the short one for tight limits and for variety."""
    return tuple(dict.fromkeys(form for form in (fact.text, fact.short) if form))


@lru_cache(maxsize=4096)
def _content_words(text: str, language: str) -> frozenset[str]:
    return content(words(text), language)


def _stands_in(sentence: str, texts: Sequence[str]) -> bool:
    return any(sentence in text for text in texts)
