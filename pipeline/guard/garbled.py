"""Check that a reply's sentences are well formed: a usual order of words, no repeated phrases, no raised digits."""

from __future__ import annotations

import re
from itertools import pairwise

from core.settings import GuardSettings
from pipeline.guard.material import GuardContext, Material, Part
from pipeline.guard.measurement import Measurement
from pipeline.guard.word_order import SHORTEST, word_orders

REPEATED = 3
"""Words in a row that no sentence has twice."""
MOST_DOUBLED = 1
"""Most words that a sentence may have twice in a row: "had had", "piano piano"."""
_RAISED = re.compile(r"[²³¹⁰-₟]")


def not_garbled(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check sentences that are not on file for repetition, raised digits and unusual word order.

    `value` counts the sentences at fault. The order is judged from SHORTEST words on, in languages that have word
    counts.
    """
    faults = [(part, fault) for part in reply.parts if not part.quoted and (fault := _fault(part, reply.language))]
    detail = f"{faults[0][1]}: “{faults[0][0].text[:80]}”." if faults else ""
    return Measurement(passed=not faults, value=len(faults), threshold=0, detail=detail)


def _fault(part: Part, language: str) -> str:
    if _RAISED.search(part.text):
        return "Has raised digits"
    words = part.words
    runs = [words[start : start + REPEATED] for start in range(len(words) - REPEATED + 1)]
    doubled = sum(word == following for word, following in pairwise(words))
    if doubled > MOST_DOUBLED or len(set(runs)) < len(runs):
        return "Says the same words over again"
    order = word_orders().get(language)
    if order is not None and len(words) >= SHORTEST and order.usualness(words) < order.least:
        return "Its words stand in no usual order"
    return ""
