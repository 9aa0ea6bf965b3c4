"""Check that a reply's sentences are well formed: a usual order of words, no repeated phrases, no characters that a
model makes do with where a grammar keeps it from writing a figure ("in ² ²", "over ⅓", "in ￥ ￥", "from % to %")."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

from core.settings import GuardSettings
from pipeline.guard.material import GuardContext, Material, Part
from pipeline.guard.measurement import Measurement
from pipeline.guard.word_order import SHORTEST, word_orders
from pipeline.languages import has_pack

REPEATED = 3
"""Words in a row that no sentence has twice."""
MOST_DOUBLED = 1
"""Most words that a sentence may have twice in a row: "had had", "piano piano"."""
_AROUND_WORDS = "()[]“”«»\"'.,;:!?"


def not_garbled(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check sentences that are not on file for repetition, unusual characters and unusual word order.

    `value` counts the sentences at fault. The order is judged from SHORTEST words on, in languages that have word
    counts; letters only where the reply's language has a pack, since those are all written in Latin letters.
    """
    faults = [(part, fault) for part in reply.parts if not part.quoted and (fault := _fault(part, reply.language))]
    detail = f"{faults[0][1]}: “{faults[0][0].text[:80]}”." if faults else ""
    return Measurement(passed=not faults, value=len(faults), threshold=0, detail=detail)


def _fault(part: Part, language: str) -> str:
    if any(unicodedata.category(char).startswith("N") and not char.isascii() for char in part.text):
        return "Has figures in unusual characters"
    if has_pack(language) and any(map(_is_foreign, part.text)):
        return "Has letters of another script"
    if _lacks_a_figure(part.text):
        return "Has a sign where a figure should stand"
    words = part.words
    runs = [words[start : start + REPEATED] for start in range(len(words) - REPEATED + 1)]
    doubled = sum(word == following for word, following in pairwise(words))
    if doubled > MOST_DOUBLED or len(set(runs)) < len(runs):
        return "Says the same words over again"
    order = word_orders().get(language)
    if order is not None and len(words) >= SHORTEST and order.usualness(words) < order.least:
        return "Its words stand in no usual order"
    return ""


def _is_foreign(char: str) -> bool:
    """Tell whether a character is a letter of another script than Latin; U+02B0 to 02FF help to transcribe others."""
    return char > "\u02ff" and char.isalpha() and not "\u1e00" <= char <= "\u1eff"


def _lacks_a_figure(text: str) -> bool:
    """Tell whether a sign such as "%" or "$" stands alone and has no figure beside it."""
    words = text.split()
    return any(
        _is_sign(word) and not any(map(str.isdigit, "".join(words[max(0, place - 1) : place + 2])))
        for place, word in enumerate(words)
    )


def _is_sign(word: str) -> bool:
    signs = word.strip(_AROUND_WORDS)
    return bool(signs) and all(char in "%‰" or unicodedata.category(char) in ("Sc", "Sk", "Lm") for char in signs)
