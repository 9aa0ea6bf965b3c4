"""Check that every figure in a reply occurs in its evidence or in the post."""

from __future__ import annotations

import re
from functools import lru_cache

from core.domain import Evidence
from core.settings import GuardSettings
from pipeline.guard.figures import Figure, figures
from pipeline.guard.material import GuardContext, Material
from pipeline.guard.measurement import Measurement
from pipeline.guard.words import fold

_SYMBOL = re.compile(r"(?<![\w/.])(?=[^\s]*\d)[\w.]+(?:/[\w.()]+)+")


def numbers(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check numbers, years, percentages and document symbols; "1,000", "1 000" and "47 %" mean what they mean.

    Sentences on file were checked when they were written. `value` counts the figures that occur nowhere.
    """
    known = _known(reply, context)
    values = {figure.value for figure in known}
    percentages = {figure.value for figure in known if figure.percent}
    own = " ".join(part.text for part in reply.parts if not part.quoted)
    unknown = [
        figure.text
        for figure in figures(own, reply.language)
        if figure.value not in (percentages if figure.percent else values)
    ]
    unknown += [symbol for symbol in _symbols(own) if symbol not in _evidence_text(context)]
    detail = f"Not in the evidence: {', '.join(f'“{text}”' for text in dict.fromkeys(unknown))}." if unknown else ""
    return Measurement(passed=not unknown, value=len(unknown), threshold=0, detail=detail)


def _symbols(text: str) -> tuple[str, ...]:
    return tuple(symbol.rstrip(".") for symbol in _SYMBOL.findall(fold(text)))


def _evidence_text(context: GuardContext) -> str:
    """Return where a symbol may come from: the evidence with its sources, and the post."""
    sources = map(_everything, context.evidence)
    return fold(" ".join([*sources, context.post.text]))


def _known(reply: Material, context: GuardContext) -> set[Figure]:
    post = figures(context.post.text, reply.language)
    return {*post, *(figure for statement in reply.statements for figure in _of_evidence(statement.evidence))}


@lru_cache(maxsize=2048)
def _of_evidence(evidence: Evidence) -> tuple[Figure, ...]:
    return figures(_everything(evidence), evidence.language)


def _everything(evidence: Evidence) -> str:
    source = evidence.source
    return f"{evidence.text} | {source.title} | {source.symbol} | {source.locator} | {source.year}"
