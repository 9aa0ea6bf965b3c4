"""Check that a reply insults nobody and isn't toxic."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from core.domain import Check
from core.settings import GuardSettings
from pipeline.guard.material import Material, terms_pattern
from pipeline.languages import DEFAULT, pack

if TYPE_CHECKING:
    from models.toxicity import Toxicity


def not_toxic(reply: Material, settings: GuardSettings, toxicity: Toxicity) -> Check:
    """Check the toxicity model's probability for the reply's own words.

    In other languages than the model's the result is only advice. Quoted statements are left out: they are vetted,
    and such models take the mere names of groups for harm.
    """
    own = " ".join(part.text for part in reply.parts if not part.quoted)
    score = toxicity.score(own) if own else 0.0
    limit = settings.max_toxicity
    known = reply.language in toxicity.languages
    detail = f"Toxicity {score:.0%}; {limit:.0%} is the limit."
    if not known:
        detail = f"Toxicity is not known for “{reply.language}”; please read this reply closely."
    passed = score < limit
    return Check(name="toxicity", passed=passed, value=round(score, 4), threshold=limit, hard=known, detail=detail)


def no_insult(reply: Material, settings: GuardSettings) -> Check:
    """Check for mild insults in the reply's language and in English; a quoted statement may name them."""
    outside = " ".join(part.folded for part in reply.parts if not part.quoted)
    insults = sorted({match.group() for match in _insults(reply.language).finditer(outside)})
    detail = f"Reads as an insult: {', '.join(f'“{word}”' for word in insults[:3])}." if insults else ""
    return Check(name="insult", passed=not insults, value=len(insults), threshold=0, detail=detail)


@lru_cache(maxsize=16)
def _insults(language: str) -> re.Pattern[str]:
    # English insults are thrown in every language.
    terms = dict.fromkeys((*pack(DEFAULT).insults, *pack(language).insults))
    return re.compile(rf"\b(?:{terms_pattern(terms)})(?!\w)")
