"""Check that a reply insults nobody."""

from __future__ import annotations

import re
from functools import lru_cache

from core.domain import Check
from core.settings import GuardSettings
from pipeline.guard.lexicon import table
from pipeline.guard.material import Material, terms_pattern
from pipeline.guard.words import fold


def no_insult(reply: Material, settings: GuardSettings) -> Check:
    """Check for mild insults in any of the listed languages; a quoted statement may name them."""
    outside = " ".join(part.folded for part in reply.parts if not part.quoted)
    found = sorted({match.group() for match in _insults(reply.language).finditer(outside)})
    detail = f"Reads as an insult: {', '.join(f'“{word}”' for word in found[:3])}." if found else ""
    return Check(name="insult", passed=not found, value=len(found), threshold=0, detail=detail)


@lru_cache(maxsize=16)
def _insults(language: str) -> re.Pattern[str]:
    lists: dict[str, list[str]] = table("insults")
    terms = [*lists["en"], *lists.get(language, [])]
    return re.compile(rf"\b(?:{terms_pattern([fold(term) for term in terms])})(?!\w)")
