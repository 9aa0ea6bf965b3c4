"""Check that a reply is a reply: no refusal, no role play as a machine, no piece of the prompt."""

from __future__ import annotations

import re
from functools import lru_cache

from core.settings import GuardSettings
from pipeline.guard.lexicon import table
from pipeline.guard.material import GuardContext, Material
from pipeline.guard.measurement import Measurement
from pipeline.languages import packs


def no_refusal(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check that the reply doesn't refuse, apologise or speak as a machine."""
    return _absent("refusal", reply, "Speaks as a machine or refuses")


def no_leak(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check that no instruction, label or delimiter of the prompt shows."""
    return _absent("leak", reply, "Shows a piece of the drafting instructions")


def _absent(name: str, reply: Material, saying: str) -> Measurement:
    unquoted = " ".join(part.folded for part in reply.parts if not part.quoted)
    phrases = [match.group() for match in _pattern(name).finditer(unquoted)]
    detail = f"{saying}: “{phrases[0][:60]}”." if phrases else ""
    return Measurement(passed=not phrases, value=len(phrases), threshold=0, detail=detail)


@lru_cache(maxsize=2)
def _pattern(name: str) -> re.Pattern[str]:
    """Return the patterns of all languages: a model may refuse in any of them."""
    refusals = [pattern for pack in packs().values() for pattern in pack.refusals]
    return re.compile("|".join(refusals if name == "refusal" else table("leak")[name]))
