"""Check that a reply insults nobody."""

from __future__ import annotations

import re
from functools import lru_cache

from core.settings import GuardSettings
from pipeline.guard.material import GuardContext, Material, terms_pattern
from pipeline.guard.measurement import Measurement
from pipeline.languages import DEFAULT, pack


def no_insult(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check for mild insults in the reply's language and in English; a quoted statement may name them."""
    unquoted = " ".join(part.folded for part in reply.parts if not part.quoted)
    insults = sorted({match.group() for match in _insults(reply.language).finditer(unquoted)})
    detail = f"Reads as an insult: {', '.join(f'“{word}”' for word in insults[:3])}." if insults else ""
    return Measurement(passed=not insults, value=len(insults), threshold=0, detail=detail)


@lru_cache(maxsize=16)
def _insults(language: str) -> re.Pattern[str]:
    # English insults are thrown in every language.
    terms = dict.fromkeys((*pack(DEFAULT).insults, *pack(language).insults))
    return re.compile(rf"\b(?:{terms_pattern(terms)})(?!\w)")
