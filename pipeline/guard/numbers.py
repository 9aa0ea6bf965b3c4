"""Check that every figure in a reply occurs in its evidence or in the post."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from core.domain import Evidence
from core.settings import GuardSettings
from pipeline.guard.borne_out import Given, explained, known_quantities
from pipeline.guard.cues import refutations
from pipeline.guard.figures import Figure, figures, magnitude
from pipeline.guard.lexicon import words_pattern
from pipeline.guard.material import GuardContext, Material, Part, with_citation
from pipeline.guard.measurement import Measurement
from pipeline.guard.quantities import Kind, is_alone, is_plain, names_first_article, quantities
from pipeline.guard.support import is_statement
from pipeline.guard.words import fold
from pipeline.sentences import is_question

_PART = re.compile(
    r"\b(?:thirds?|quarters?|fifths?|tenths?|times|tercios?|terceras?|quintos?|veces|terzi|quinti|quarti|volte|herenak?)\b"
)
_CLAUSE_END = re.compile(r"[.;:!?…\n]")
SMALL = 12
"""Largest number that, written as a word, is no figure in a sentence that states no fact."""
_MANY = re.compile(
    r"\b(?:hundreds|thousands|millions|cientos|miles|millones|centinaia|migliaia|milioni)\b(?!\s(?:of|de|di)\b)"
)
SYMBOL = re.compile(r"(?<![\w/.])(?=[^\s]*\d)[\w.]+(?:/[\w.()]+)+")


def numbers(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check numbers, years, percentages and document symbols; "1,000" and "1 000" are the same number.

    Sentences on file were checked when they were written. `value` counts the figures that occur nowhere.
    """
    borne = known_quantities(reply, context)
    evidence = {figure for statement in reply.statements for figure in _of_evidence(statement.evidence)}
    post = {*figures(context.post.text, reply.language)}
    post_text = fold(context.post.text)
    unknown = []
    for part in (part for part in reply.parts if not part.quoted):
        named = [*_sources_named(part, reply)]
        written = [
            figure
            for figure in figures(part.text, reply.language)
            if not is_plain(part.folded, figure.start, figure.end, reply.language)
            and not any(start <= figure.start < end for start, end in named)
        ]
        stated = is_statement(part, reply)
        known = evidence if _reports(part, reply.language) else evidence | post
        values = {figure.value for figure in known}
        percentages = {figure.value for figure in known if figure.percent} | borne.of_kind(Kind.SHARE)
        is_explained = explained(part.folded, reply.language, borne)
        unknown += [
            figure.text
            for figure in written
            if not {figure.value, _with_magnitude(figure, written, part, reply.language)}
            & (percentages if figure.percent else values)
            and (stated or not _is_plain_talk(figure, part))
            and not is_explained(figure.start, figure.end)
        ]
        if stated or (borne.of_kind(Kind.SHARE) and not is_question(part.text)):
            wrong = _contradicted(part.folded, reply.language, borne, stated=stated)
            unknown += [words for words in wrong if known is evidence or words not in post_text]
    own = " ".join(part.text for part in reply.parts if not part.quoted)
    unknown += [symbol for symbol in _symbols(own) if symbol not in _evidence_text(context)]
    detail = f"Not in the evidence: {', '.join(f'“{text}”' for text in dict.fromkeys(unknown))}." if unknown else ""
    return Measurement(passed=not unknown, value=len(unknown), threshold=0, detail=detail)


def _contradicted(text: str, language: str, borne: Given, *, stated: bool) -> Iterator[str]:
    """Yield the quantities of a statement that the evidence does not bear out, even if it has their numbers."""
    spans = borne.of_kind(Kind.SPAN)
    for quantity in quantities(text, language):
        if borne.bears_out(quantity) or is_plain(text, *quantity.span, language):
            continue
        wrong_unit = any(quantity.value in (value * factor, value / factor) for value in spans for factor in (10, 100))
        read = {figure.value for word in quantity.words for figure in figures(word, language)}
        if (
            quantity.kind is Kind.ERA
            or (quantity.kind is Kind.TIMES and stated)
            or (quantity.kind is Kind.SPAN and wrong_unit)
            or (quantity.kind is Kind.SHARE and not (read and read <= borne.of_kind(Kind.NUMBER)))
        ):
            yield max(quantity.words, key=len, default="")


def _sources_named(part: Part, reply: Material) -> Iterator[tuple[int, int]]:
    """Yield where a sentence has the whole name of a source's institution, which may hold a figure."""
    for name in {fold(statement.evidence.source.institution) for statement in reply.statements}:
        yield from (match.span() for match in re.finditer(re.escape(name), part.folded) if name)


def _with_magnitude(figure: Figure, written: Sequence[Figure], part: Part, language: str) -> float:
    """Return what a decimal number counts if the magnitude before it goes on: "of 7.7 million, 6.5 live there".

    Nothing that it counts must be named after it: "of 7.7 million, the oldest lived 6.5 years".
    """
    before = [
        other
        for other in written
        if other.start < figure.start and not _CLAUSE_END.search(part.folded[other.end : figure.start])
    ]
    if (
        not before
        or figure.percent
        or float(figure.value).is_integer()
        or not is_alone(part.folded, figure.end, language)
    ):
        return figure.value
    size = magnitude(before[-1], language)
    return figure.value * size if size and figure.value * size < before[-1].value else figure.value


def _is_plain_talk(figure: Figure, part: Part) -> bool:
    """Tell whether a number word is plain talk: "two people in love", "millions", or any number word in a question."""
    if not figure.text.replace(" ", "").isalpha() or figure.percent:
        return False
    small = float(figure.value).is_integer() and 1 <= figure.value <= SMALL and not _PART.search(part.folded)
    many = _MANY.search(part.folded) is not None and _MANY.fullmatch(figure.text) is not None
    return small or many or is_question(part.text)


def _symbols(text: str) -> tuple[str, ...]:
    return tuple(symbol.rstrip(".") for symbol in SYMBOL.findall(fold(text)))


def _evidence_text(context: GuardContext) -> str:
    """Return the texts that a document symbol may come from: the evidence with its sources, and the post."""
    sources = map(with_citation, context.evidence)
    return fold(" ".join([*sources, context.post.text]))


def _reports(part: Part, language: str) -> bool:
    """Tell whether a sentence reports a finding and refutes nothing; the post's figures can't support it."""
    reports = words_pattern("reports", language).search(part.folded)
    return reports is not None and not refutations(part.folded, language)


@lru_cache(maxsize=2048)
def _of_evidence(evidence: Evidence) -> tuple[Figure, ...]:
    text = with_citation(evidence)
    first = (Figure("1", 1.0, percent=False),) if names_first_article(fold(text), evidence.language) else ()
    return (*figures(text, evidence.language), *first)
