"""Check that a reply insults and threatens nobody."""

from __future__ import annotations

import re
from functools import lru_cache

from core.settings import GuardSettings
from pipeline.guard.lexicon import words_pattern
from pipeline.guard.material import GuardContext, Material, terms_pattern
from pipeline.guard.measurement import Measurement
from pipeline.languages import DEFAULT, pack


def no_insult(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check for threats, and for mild insults in the reply's language and in English; quoted sentences are exempt."""
    unquoted = " ".join(part.folded for part in reply.parts if not part.quoted)
    insults = sorted({match.group() for match in _insults(reply.language).finditer(unquoted)})
    threats = [match.group() for match in words_pattern("threat", reply.language).finditer(unquoted)]
    kind = "an insult" if insults else "a threat"
    shown = ", ".join(f"“{words}”" for words in [*insults, *threats][:3])
    count = len(insults) + len(threats)
    return Measurement(passed=not count, value=count, threshold=0, detail=f"Reads as {kind}: {shown}." if count else "")


@lru_cache(maxsize=16)
def _insults(language: str) -> re.Pattern[str]:
    # English insults are used in every language.
    terms = dict.fromkeys((*pack(DEFAULT).insults, *pack(language).insults))
    return re.compile(rf"\b(?:{terms_pattern(terms)})(?!\w)")
