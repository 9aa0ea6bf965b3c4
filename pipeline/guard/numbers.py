"""Check that every figure in a reply occurs in its evidence or in the post."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from core.domain import Evidence
from core.settings import GuardSettings
from pipeline.guard.material import GuardContext, Material
from pipeline.guard.measurement import Measurement
from pipeline.guard.words import fold
from pipeline.languages import pack

_GROUPED = r"\d{1,3}(?:[ .,']\d{3})+(?!\d)(?:[.,]\d{1,2}(?!\d))?"
_SYMBOL = re.compile(r"(?<![\w/.])(?=[^\s]*\d)[\w.]+(?:/[\w.()]+)+")


@dataclass(frozen=True)
class Figure:
    """A number as written, its value, and whether it is a percentage."""

    text: str
    value: float
    percent: bool


def numbers(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check numbers, years, percentages and document symbols; "1,000", "1 000" and "47 %" mean what they mean.

    `value` counts the figures that occur nowhere.
    """
    known = _known(reply, context)
    values = {figure.value for figure in known}
    percentages = {figure.value for figure in known if figure.percent}
    loose = [
        figure.text
        for figure in figures(reply.text, reply.language)
        if figure.value not in (percentages if figure.percent else values)
    ]
    loose += [symbol for symbol in _symbols(reply.text) if symbol not in _haystack(context)]
    detail = f"Not in the evidence: {', '.join(f'“{text}”' for text in dict.fromkeys(loose))}." if loose else ""
    return Measurement(passed=not loose, value=len(loose), threshold=0, detail=detail)


def figures(text: str, language: str) -> tuple[Figure, ...]:
    """Return the figures of `text`, in digits and in words, magnitudes applied ("1.3 billion")."""
    return tuple(_figures(fold(text), language))


def value_of(number: str) -> float:
    """Return the value of digits with decimal point or comma, or with thousands set apart by point, comma or space."""
    if re.fullmatch(_GROUPED, number):
        mark = re.search(r"[.,](\d{1,2})$", number)
        whole = re.sub(r"\D", "", number[: mark.start()] if mark else number)
        return float(f"{whole}.{mark.group(1)}" if mark else whole)
    return float(number.replace(",", "."))


def _figures(text: str, language: str) -> Iterator[Figure]:
    by_word, magnitudes = pack(language).numbers.words, pack(language).numbers.magnitudes
    pending: Figure | None = None
    for match in _figure(language).finditer(text):
        word = match["word"]
        value = by_word.get(word) if word else value_of(match["number"])
        if word in magnitudes and not (pending and pending.percent):
            base = pending or Figure("", 1, False)
            pending = Figure(f"{base.text} {word}".strip(), base.value * magnitudes[word], False)
        elif pending and word and value and value < 10 <= pending.value < 100 and pending.text in by_word:
            pending = Figure(f"{pending.text}-{word}", pending.value + value, False)
        else:
            if pending:
                yield pending
            pending = None if value is None else Figure(match.group(), value, bool(match["percent"]))
    if pending:
        yield pending


@lru_cache(maxsize=32)
def _figure(language: str) -> re.Pattern[str]:
    percent = rf"\s?(?:%|(?:{'|'.join(pack(language).numbers.percent)})\b)"
    return re.compile(
        rf"(?P<number>{_GROUPED}|\d+(?:[.,]\d+)?)(?P<percent>{percent})?"
        r"|(?P<word>[^\W\d_]+)"
    )


def _symbols(text: str) -> tuple[str, ...]:
    return tuple(symbol.rstrip(".") for symbol in _SYMBOL.findall(fold(text)))


def _haystack(context: GuardContext) -> str:
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
