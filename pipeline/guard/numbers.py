"""Check that every figure in a reply occurs in its evidence or in the post."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from core.domain import Evidence
from core.settings import GuardSettings
from pipeline.guard.figures import Figure, figures
from pipeline.guard.material import GuardContext, Material
from pipeline.guard.measurement import Measurement
from pipeline.guard.support import is_statement
from pipeline.guard.words import fold

_OF = re.compile(r"\s(?:\w+\s)?(?:in|out of|de cada|di ogni|su)\s")
_PART = re.compile(
    r"\b(?:thirds?|quarters?|fifths?|tenths?|times|tercios?|terceras?|quintos?|veces|terzi|quinti|quarti|volte|herenak?)\b"
)
SMALL = 10
"""Numbers up to this, written as words, are no figures in a sentence that states no fact."""
_SYMBOL = re.compile(r"(?<![\w/.])(?=[^\s]*\d)[\w.]+(?:/[\w.()]+)+")


def numbers(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check numbers, years, percentages and document symbols; "1,000", "1 000" and "47 %" mean what they mean.

    Sentences on file were checked when they were written. `value` counts the figures that occur nowhere.
    """
    known = _known(reply, context)
    values = {figure.value for figure in known}
    percentages = {figure.value for figure in known if figure.percent}
    own = " ".join(part.text for part in reply.parts if not part.quoted)
    told = " ".join(part.text for part in reply.parts if not part.quoted and is_statement(part, reply))
    given = {figure.text for figure in figures(told, reply.language)}
    unknown = [
        figure.text
        for figure in figures(own, reply.language)
        if figure.value not in (percentages if figure.percent else values)
        and (figure.text in given or not _is_small_word(figure) or _PART.search(fold(own)))
        and figure not in _shares(own, reply.language, percentages)
    ]
    unknown += [symbol for symbol in _symbols(own) if symbol not in _evidence_text(context)]
    detail = f"Not in the evidence: {', '.join(f'“{text}”' for text in dict.fromkeys(unknown))}." if unknown else ""
    return Measurement(passed=not unknown, value=len(unknown), threshold=0, detail=detail)


def _shares(text: str, language: str, percentages: set[float]) -> Iterator[Figure]:
    """Yield both figures of each share that the evidence gives in percent: "three in four" for 75 %."""
    found = figures(text, language)
    cursor = 0
    for first, second in pairwise(found):
        cursor = text.find(first.text, cursor) + len(first.text)
        between = text[cursor : text.find(second.text, cursor)]
        if _OF.fullmatch(between) and second.value and round(100 * first.value / second.value, 1) in percentages:
            yield from (first, second)


def _is_small_word(figure: Figure) -> bool:
    """Tell whether a number is one that plain talk is full of, as in "two people in love"."""
    whole = float(figure.value).is_integer() and 1 <= figure.value <= SMALL
    return figure.text.isalpha() and whole and not figure.percent


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
