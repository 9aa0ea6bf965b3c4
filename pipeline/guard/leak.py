"""Check that a text is a reply at all: no refusal, no speaking as a machine, no piece of the prompt."""

from __future__ import annotations

import re
from functools import lru_cache

from core.domain import Intent
from core.settings import GuardSettings
from pipeline.guard.lexicon import table
from pipeline.guard.material import GuardContext, Material
from pipeline.guard.measurement import Measurement
from pipeline.guard.words import content, words
from pipeline.languages import DEFAULT, packs
from pipeline.sentences import split


def no_refusal(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check that the reply doesn't refuse, apologise or speak as a machine."""
    return _absent("refusal", reply, "Speaks as a machine or refuses")


def no_leak(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check that no instruction, label or example of the prompt shows, and that the reply doesn't speak of itself."""
    copied = [part.text for part in reply.parts if not part.quoted and part.words in _examples()]
    if copied:
        detail = f"Says the prompt's example over again: “{copied[0][:60]}”."
        return Measurement(passed=False, value=len(copied), threshold=0, detail=detail)
    return _absent("leak", reply, "Shows a piece of the drafting instructions, or speaks of itself")


def _absent(name: str, reply: Material, saying: str) -> Measurement:
    unquoted = " ".join(part.folded for part in reply.parts if not part.quoted)
    phrases = [match.group() for match in _pattern(name).finditer(unquoted)]
    detail = f"{saying}: “{phrases[0][:60]}”." if phrases else ""
    return Measurement(passed=not phrases, value=len(phrases), threshold=0, detail=detail)


@lru_cache(maxsize=1)
def _examples() -> frozenset[tuple[str, ...]]:
    """Return the sentences of the prompts' example replies that share content words with the example's post."""
    general = table("prompts")["example"]
    examples = [(DEFAULT, general["post"], general["replies"])]
    examples += [(language, entry["post"], entry) for language, entry in table("prompts/locked")["example"].items()]
    return frozenset(
        words(sentence)
        for language, post, replies in examples
        for intent in Intent
        for sentence in split(replies[intent], language)
        if content(words(sentence), language) & content(words(post), language)
    )


@lru_cache(maxsize=2)
def _pattern(name: str) -> re.Pattern[str]:
    """Return the patterns of all languages: a model may refuse in any of them."""
    refusals = [pattern for pack in packs().values() for pattern in pack.refusals]
    return re.compile("|".join(refusals if name == "refusal" else table("leak")[name]))
