"""Tell which quantities of a reply its evidence bears out, however they are worded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

from core.domain import Evidence
from pipeline.guard.figures import Figure, figures
from pipeline.guard.material import GuardContext, Material
from pipeline.guard.quantities import FIRST_YEAR, LAST_YEAR, Kind, Quantity, compares, has_majority, quantities
from pipeline.guard.words import fold

FEWEST_COUNTED, MOST_COMPARED = 12, 4
"""Least count that shares are computed from, and most counts in a text for which shares and ratios are computed."""
MOST_DATES = 12
"""Most years in a text between which spans of time are computed."""
_GOES_ON = re.compile(r"[./]\d")

IsExplained = Callable[[int, int], bool]
"""Tells whether the text from one position to another lies in a quantity that the evidence bears out."""


@dataclass(frozen=True)
class Given:
    """What the evidence gives: exact values by kind, and whether it speaks of a majority."""

    values: frozenset[tuple[Kind, float]] = frozenset()
    majority: bool = False

    def bears_out(self, quantity: Quantity) -> bool:
        """Tell whether the quantity covers one of the values; "more than half" is also borne out by a majority."""
        more_than_half = quantity.kind is Kind.SHARE and quantity.value == 50 and quantity.below == 0 < quantity.above
        return (self.majority and more_than_half) or any(map(quantity.covers, self.of_kind(quantity.kind)))

    def of_kind(self, kind: Kind) -> set[float]:
        """Return the values of one kind."""
        return {value for known, value in self.values if known is kind}


@lru_cache(maxsize=1024)
def given(text: str, language: str, this_year: int) -> Given:
    """Return what folded `text` gives, and what follows from it: shares, ratios and years between dates.

    Years are no counts: "in 2019" does not bear out "thousands".
    """
    written = [figure for figure in figures(text, language) if not _is_in_a_date(figure, text)]
    years = sorted({figure.value for figure in written if _is_year(figure)})[:MOST_DATES]
    values = {(quantity.kind, quantity.value) for quantity in quantities(text, language)}
    values -= {(Kind.NUMBER, year) for year in years}
    values |= {
        (Kind.SHARE if figure.percent else Kind.NUMBER, figure.value) for figure in written if not _is_year(figure)
    }
    counts = {figure.value for figure in written if not figure.percent and not _is_year(figure)}
    values |= {(Kind.ERA, year) for year in years}
    dates = [*years, float(this_year)] if years else []
    values |= {
        (Kind.SPAN, later - earlier + extra)
        for later, earlier in permutations(dates, 2)
        if later > earlier
        for extra in (0.0, 1.0)
    }
    if any(quantity.kind is Kind.TIMES for quantity in quantities(text, language)):
        values |= {(Kind.TIMES, count) for count in counts}
    if len(counts) <= MOST_COMPARED:
        pairs = [(small, large) for small, large in permutations(counts, 2) if FEWEST_COUNTED <= small < large]
        pairs += [(small, large) for small, large in permutations(counts, 2) if not (small + large).is_integer()]
        values |= {(Kind.SHARE, 100 * small / large) for small, large in pairs if small < large}
    if len(counts) <= MOST_COMPARED and compares(text, language):
        values |= {(Kind.TIMES, large / small) for small, large in pairs if small < large}
    return Given(frozenset(values), has_majority(text, language))


def together(many: Iterable[Given]) -> Given:
    """Return what several texts give together."""
    sources = list(many)
    values = frozenset[tuple[Kind, float]]().union(*(source.values for source in sources))
    return Given(values, any(source.majority for source in sources))


def explained(text: str, language: str, borne: Given) -> IsExplained:
    """Return a function that tells whether a span of folded `text` lies in a quantity that the evidence bears out."""
    spans = [quantity.span for quantity in quantities(text, language) if borne.bears_out(quantity)]
    return lambda start, end: any(first <= start and end <= last for first, last in spans)


def known_quantities(reply: Material, context: GuardContext) -> Given:
    """Return what the evidence gives, in figures and in words.

    The post is left out: a reply may use its figures only as they are written there.
    """
    return together(given_by(statement.evidence, context.year) for statement in reply.statements)


def given_by(evidence: Evidence, this_year: int) -> Given:
    """Return what one piece of evidence gives, with its source's title and year."""
    source = fold(f"{evidence.source.title} | {evidence.source.year}")
    return together([given(text, evidence.language, this_year) for text in (fold(evidence.text), source)])


def _is_in_a_date(figure: Figure, text: str) -> bool:
    """Tell whether digits with a point are the day and month of a date: "12.5.2019"."""
    return not float(figure.value).is_integer() and _GOES_ON.match(text, figure.end) is not None


def _is_year(figure: Figure) -> bool:
    return figure.text.isdigit() and FIRST_YEAR <= figure.value <= LAST_YEAR
