"""Replies in words on file: a counter-claim to the claim that the post makes, and a fact that backs it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from core.domain import Claim, Evidence, Intent
from pipeline.guard import GuardContext

Item = TypeVar("Item")

_BOTH_ORDERS = frozenset({Intent.INFORMATIVE, Intent.QUESTIONING})
"""Intents in which the fact may come first: facts invite a conclusion or a question, but follow blame or kindness."""


@dataclass(frozen=True)
class Answer:
    """A reply of two sentences on file, the claim that it answers and the fact that it states."""

    text: str
    claim: str
    fact: str


def answers(context: GuardContext, limit: int, number: int) -> Iterator[Answer]:
    """Yield the replies of up to `limit` characters for the post's claims, the surest claim's first.

    The pairs of counter-claim and fact rotate with the draft's number and from a place given by the case's key, so that
    many posts with one claim don't all get one text. A fact too long for the limit is told in its short form.
    """
    turn = place(context.post.key) + number - 1
    for claim in context.claims:
        yield from rotated([*_pairs(claim, context, limit)], turn)


def place(key: str) -> int:
    """Return a number that a case always gets."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big")


def rotated(items: Sequence[Item], by: int) -> list[Item]:
    """Return the items, begun at another one."""
    by %= len(items) or 1
    return [*items[by:], *items[:by]]


def _pairs(claim: Claim, context: GuardContext, limit: int) -> Iterator[Answer]:
    counters = [counter.text for counter in claim.counter_claims if counter.intent is context.intent]
    facts = [fact for fact in context.evidence if claim.id in fact.claims and fact.language == context.reply_language]
    fact_first = (False, True) if context.intent in _BOTH_ORDERS else (False,)
    for reverse, fact, counter in product(fact_first, facts, counters):
        told = _told(fact, limit - len(counter) - 1)
        if told:
            yield Answer(" ".join((told, counter) if reverse else (counter, told)), claim.id, fact.id)


def _told(fact: Evidence, room: int) -> str:
    """Return the fact, or its short form, as fits; empty when neither does."""
    return next((form for form in (fact.text, fact.short) if form and len(form) <= room), "")
