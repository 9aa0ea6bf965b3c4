"""Compose a reply without a model, from a template and one sentence of evidence, where no reply on file serves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from core.domain import Evidence, Intent, TargetGroup
from core.settings import GuardSettings
from pipeline import sentences
from pipeline.answers import place, rotated
from pipeline.guard import GuardContext, limit_for
from pipeline.languages import pack, packs

SHORTEST, LONGEST = 30, 320
"""Characters of an evidence sentence that may be quoted: a shorter one says nothing, a longer one is not read."""

_BEGINS = re.compile(r"[^\W\d_a-zß-ÿ]|[“\"«¿¡]|\d+\s")
_ACRONYM = re.compile(r"\b[A-Z]{2,}\b")


class Composer:
    """A composer of replies of exactly two sentences; the same case and draft number always give the same text."""

    def __init__(self, settings: GuardSettings) -> None:
        self._settings = settings

    def variants(self, ctx: GuardContext, number: int) -> Iterator[str]:
        """Yield every reply that fits language, groups and platform, starting at the turn of draft `number` (from 1).

        Statements come best first and rotate with the number; templates rotate with it from a place given by the case's
        key.
        """
        limit = self.longest(ctx)
        quotable = [(item, quote) for item in ctx.evidence if _fits(item, ctx) for quote in quotes(item)]
        for evidence, quote in rotated(quotable, number - 1):
            group = next((group for group in ctx.groups if group in evidence.groups), TargetGroup.OTHER)
            choices = templates(ctx.reply_language, ctx.intent, group)
            for template in rotated(choices, place(ctx.post.key) + number - 1):
                text = template.format(people=people(ctx.reply_language, group), evidence=quote)
                if len(text) <= limit:
                    yield text

    def longest(self, ctx: GuardContext) -> int:
        """Return the most characters that a reply to the post may have."""
        return limit_for(ctx.post.platform, self._settings)


def templates(language: str, intent: Intent, group: TargetGroup) -> tuple[str, ...]:
    """Return the claim templates in `language`: the group's own, then those for any group; empty without a pack."""
    by_group = packs()[language].templates[intent] if language in packs() else {}
    return (*by_group.get(group, ()), *by_group.get("any", ()))


def people(language: str, group: TargetGroup) -> str:
    """Return what templates in `language` call a group."""
    return packs()[language].people[group]


def _fits(evidence: Evidence, ctx: GuardContext) -> bool:
    """Tell whether a statement is in the reply's language and about an attacked group; OTHER fits any post."""
    about = not ctx.groups or TargetGroup.OTHER in evidence.groups or bool(set(ctx.groups) & set(evidence.groups))
    return evidence.language == ctx.reply_language and about


def quotes(evidence: Evidence) -> Iterator[str]:
    """Yield the sentences of a statement that can stand alone, each naming its source."""
    dependent = pack(evidence.language).dependent_openings
    for position, sentence in enumerate(sentences.split(evidence.text, evidence.language)):
        alone = position == 0 or not sentence.startswith(dependent)
        if not (SHORTEST <= len(sentence) <= LONGEST and _BEGINS.match(sentence) and alone):
            continue
        whole = sentence if sentences.is_complete(sentence) else f"{sentence}."
        yield (
            whole
            if _names_a_source(whole, evidence.language)
            else f"{evidence.source.title} ({evidence.source.institution}): {whole}"
        )


def _names_a_source(sentence: str, language: str) -> bool:
    """Tell whether a sentence names its source: by an acronym, or by a word such as "convention"."""
    return bool(_ACRONYM.search(sentence) or _source_word(language).search(sentence))


@lru_cache(maxsize=32)
def _source_word(language: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(pack(language).source_words)})\b", re.IGNORECASE)
