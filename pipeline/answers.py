"""Replies made of sentences on file: a counter-claim to the post's claim and a fact that backs it."""

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
"""Number of replies to a claim from which no more are made by putting the fact first.

With this many, each reply appears under at most a tenth of a campaign's posts. Readers like the fact first less
(docs/drafting.md).
"""
ALIKE, FAVOURED = 0.25, 6
"""Pairs take turns if their preference is within ALIKE of the best one's, or if they are among the FAVOURED best."""

SAME_THING = 0.5
"""Share of common content words from which two sentences say the same thing, as 12 in 1,000 pairs on file do."""


@dataclass(frozen=True)
class Answer:
    """A reply of two sentences on file, with the ids of the claim that it answers and of the fact that it states."""

    text: str
    claim: str
    fact: str


def answers(context: GuardContext, limit: int, number: int) -> Iterator[Answer]:
    """Yield the replies of up to `limit` characters to the post's claims, the surest claim's first.

    The pairs of counter-claim and fact that answer one claim come in this order, the first rule deciding:

    - pairs of which neither sentence was said before, then those with one new sentence, then the others; a pair that
      was said together is left out
    - pairs that say the same thing twice come last
    - pairs that moderators prefer come first, where that was learned
    - the rest rotates with the draft's number, from a place given by the case's key, so that many posts with one claim
      don't all get the same text
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
    """Return a number that is always the same for a case."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big")


def rotated(items: Sequence[Item], by: int) -> list[Item]:
    """Return the items in a circle, starting `by` places later."""
    by %= len(items) or 1
    return [*items[by:], *items[:by]]


@dataclass(frozen=True)
class _Pair:
    """A counter-claim, a fact, the `form` in which the fact is told, and moderators' preference (log odds)."""

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
        """Tell whether the fact is told like a headline ("95 studies: …") although its full text would fit."""
        headline = self.form != self.fact.text and ": " in self.form
        return headline and len(f"{self.counter} {self.fact.text}") <= limit

    def says_it_twice(self) -> bool:
        """Tell whether the two sentences share most content words of the shorter one."""
        language = self.fact.language
        counter, form = _content_words(self.counter, language), _content_words(self.form, language)
        return len(counter & form) >= SAME_THING * max(1, min(len(counter), len(form)))

    def said_together(self, earlier: Sequence[str]) -> bool:
        """Tell whether one earlier text has both, in any order and with the fact in any form."""
        return any(self.counter in text and _stands_in(form, (text,)) for text in earlier for form in forms(self.fact))

    def said_before(self, spoken: set[str]) -> int:
        """Return how many of the two sentences are in `spoken`, the sentences that were said before."""
        return (self.counter in spoken) + any(form in spoken for form in forms(self.fact))


def _pairs(claim: Claim, context: GuardContext, limit: int) -> list[_Pair]:
    """Return the pairs of up to `limit` characters, each fact in each of its forms.

    Where these are fewer than ENOUGH, the fact may also come first, unless the counter-claim points back ("This …").
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
    """Return the pairs that moderators prefer before the others, each kind in its given order."""
    best = sorted((pair.preference for pair in pairs), reverse=True)
    least = min(best[0] - ALIKE, best[min(FAVOURED, len(best)) - 1]) if best else 0.0
    return sorted(pairs, key=lambda pair: pair.preference < least)


def forms(fact: Evidence) -> tuple[str, ...]:
    """Return the wordings of a fact: its text and, for tight limits and variety, its short form if it has one."""
    return tuple(dict.fromkeys(form for form in (fact.text, fact.short) if form))


@lru_cache(maxsize=4096)
def _content_words(text: str, language: str) -> frozenset[str]:
    return content(words(text), language)


def _stands_in(sentence: str, texts: Sequence[str]) -> bool:
    return any(sentence in text for text in texts)
