"""Read quantities that are put in other words: shares, spans of time, multiples and orders of magnitude.

A reply may say "three in four" for 76 %, "seven centuries" for 700 years and "half a million" for 498,000, but not
"three centuries" for three decades.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from pipeline.guard.figures import figures, word_value
from pipeline.guard.lexicon import table, words_pattern
from pipeline.languages import pack

OF = {
    "tens_of": 1e1,
    "hundreds_of": 1e2,
    "thousands_of": 1e3,
    "ten_thousands_of": 1e4,
    "hundred_thousands_of": 1e5,
    "millions_of": 1e6,
}
"""Orders of magnitude, each with the number from which it is said."""
ROUNDING = ("at_most", "over", "under", "about")
"""Kinds of words that make a number inexact, in the order of the search: "no less than" before "less than"."""
WIDE, OVER_SPAN = 0.5, 0.25
"""Shares by which the exact value may exceed what "over" is said of: powers of ten and half of them; spans of time."""
ONE = frozenset({"one", "un", "una", "uno", "bat", "batek"})
PARTS = {"half": 0.5, "quarter": 0.25}
"""Parts of a unit: "half a century", "a quarter of a century", "a million and a half"."""
TENS = ("twent", "thirt", "fort", "fift", "sixt", "sevent", "eight", "ninet")
SPAN = "span of "
UNITS = {"years": 1, "decades": 10, "centuries": 100}
"""Years in a unit of time."""
ROUNDED = 0.1
"""Share by which the exact span may exceed one that is given in decades or centuries."""
CENTURY = 100
FIRST_YEAR, LAST_YEAR = 1000, 2100
FEWEST_JOINED = 20
"""Smallest number that a word like "and" may join with the rest of a number."""
HALF_POINT, WHOLE_FROM = 0.5, 10
"""By how much a whole number may be rounded, of percent or of anything else from the second on."""
NEARLY_ALL = 15.0
"""Percentage points by which "nearly all" may fall short of all."""
LARGEST_WHOLE = 1000
"""Largest whole of a share, beside greater powers of ten: "29 of 1,000" is a share, "three in 2016" is none."""


_TIMES = {"": (0.1, 0.1), "over": (0, 0.35), "under": (0.2, 0), "at_most": (0.05, 0), "about": (0.15, 0.15)}
"""Shares by which the exact ratio may be lower and higher, by the word beside it."""


class Kind(StrEnum):
    """The kinds of quantity that are compared with each other."""

    NUMBER = "number"
    SHARE = "share"
    """In percent."""
    SPAN = "span"
    """In years."""
    ERA = "era"
    """The first year of a decade; a value below 100 fits any century."""
    TIMES = "times"


@dataclass(frozen=True)
class Quantity:
    """A quantity as a text words it, where it stands, and by how much the exact value may be lower or higher."""

    words: tuple[str, ...]
    span: tuple[int, int]
    kind: Kind
    value: float
    below: float = 0.0
    above: float = 0.0

    def covers(self, exact: float) -> bool:
        """Tell whether the quantity may stand for this exact value."""
        if self.kind is Kind.ERA:
            return exact // 10 * 10 == self.value or (self.value < CENTURY and exact % CENTURY // 10 * 10 == self.value)
        return self.value - self.below <= exact <= self.value + self.above


@lru_cache(maxsize=1024)
def quantities(text: str, language: str) -> tuple[Quantity, ...]:
    """Return the quantities in folded `text` that say more than a plain number."""
    readers = (_shares, _nearly_all, _spans, _eras, _times, _orders, _rounded)
    return tuple(quantity for reader in readers for quantity in reader(text, language))


def _shares(text: str, language: str) -> Iterator[Quantity]:
    for pattern in _patterns("out_of", language):
        for match in pattern.finditer(text):
            part, whole = _part_and_whole(match, language)
            ordered = any(order.match(text, match.start()) for name in OF for order in _patterns(name, language))
            if 0 < part <= whole and _is_a_whole(whole) and not ordered:
                yield _share(text, match, 100 * part / whole, language)
    added = [match.span() for pattern in _patterns("and_a_half", language) for match in pattern.finditer(text)]
    for match in _fractions(language).finditer(text):
        if any(start < match.end() <= end for start, end in added):
            continue
        if not match["count"] and match["of"] is None and not _stands_alone(match, language):
            continue
        divisor = 2 + next(place for place in range(9) if match[f"p{place}"])
        count = _value(match["count"], language) if match["count"] else 1
        if count < divisor:
            yield _share(text, match, 100 * count / divisor, language)


def _is_a_whole(number: float) -> bool:
    return number > 1 and (number <= LARGEST_WHOLE or math.log10(number).is_integer())


def _stands_alone(fraction: re.Match[str], language: str) -> bool:
    """Tell whether a fraction of nothing named is a share: "over a quarter had left", not "at least half an hour"."""
    marker = marker_before(fraction.string, fraction.start(), language)
    return is_alone(fraction.string, fraction.end(), language) and marker in ("over", "under", "about")


def is_alone(text: str, end: int, language: str) -> bool:
    """Tell whether nothing that it counts follows a number that ends there in folded `text`: "6.5 live here"."""
    return _after_a_share(language).match(text, end) is not None


@lru_cache(maxsize=16)
def _after_a_share(language: str) -> re.Pattern[str]:
    return re.compile("|".join(_listed("after_a_share", language)) or r"(?!)")


def _nearly_all(text: str, language: str) -> Iterator[Quantity]:
    """Yield "nearly all" as 100 %, and as 0 % where others are meant: "nearly all violence has other causes"."""
    others = _patterns("others", language)
    for pattern in _patterns("nearly_all", language):
        for match in pattern.finditer(text):
            words, after = tuple(match.group().split()), text[match.end() : match.end() + 60]
            if any(other.search(after) for other in others):
                yield Quantity(words, match.span(), Kind.SHARE, 0.0, 0.0, NEARLY_ALL)
            else:
                yield Quantity(words, match.span(), Kind.SHARE, 100.0, NEARLY_ALL, 0.0)


def _part_and_whole(match: re.Match[str], language: str) -> tuple[float, float]:
    if "nth" in match.re.groupindex:
        listed = table("quantities")["ordinals"][language]
        return (1, 2 + listed.index(match["nth"])) if match["nth"] in listed else (0, 0)
    return _value(match["part"], language), _value(match["whole"], language)


def _share(text: str, match: re.Match[str], value: float, language: str) -> Quantity:
    below, above = _points(_marker(text, match.start(), match.end(), language), value)
    return Quantity(_number_words(match.group(), language), _around(match, language), Kind.SHARE, value, below, above)


def _points(marker: str, value: float) -> tuple[float, float]:
    """Return by how many percentage points the exact share may be below and above one with this marker."""
    by_marker = {
        "": (min(2.5, value / 8), min(2.5, value / 8)),
        "over": (0.0, min(12.0, value / 3)),
        "under": (min(8.0, value / 5), 0.5),
        "at_most": (min(0.5, value / 50), 0.0),
        "about": (min(5.0, value / 5), min(5.0, value / 5)),
    }
    return by_marker[marker]


def _spans(text: str, language: str) -> Iterator[Quantity]:
    for unit, years in UNITS.items():
        for pattern in _patterns(f"{SPAN}{unit}", language):
            for match in pattern.finditer(text):
                if match["count"] or unit != "years":
                    span = years * (_value(match["count"], language) if match["count"] else 1.0)
                    exact = _rough(text, match, Kind.SPAN, span, language)
                    longer = 0.0 if years == 1 else ROUNDED * span
                    longer = max(longer, OVER_SPAN * span) if exact.above else longer
                    yield replace(exact, above=max(exact.above, longer))


def _eras(text: str, language: str) -> Iterator[Quantity]:
    for pattern in _patterns("eras", language):
        for match in pattern.finditer(text):
            plural = match.groupdict().get("plural")
            tens = 10.0 * (2 + TENS.index(plural)) if plural else _value(match["tens"], language)
            if tens >= 20 and tens % 10 == 0 and (tens < CENTURY or FIRST_YEAR < tens < LAST_YEAR):
                yield Quantity(_number_words(match.group(), language), _around(match, language), Kind.ERA, tens)


def _times(text: str, language: str) -> Iterator[Quantity]:
    for pattern in _patterns("times", language):
        for match in pattern.finditer(text):
            groups = match.groupdict()
            count = 2.0 if groups.get("twice") else 3.0 if groups.get("thrice") else _value(groups["count"], language)
            if count > 1:
                marker = _marker(text, match.start(), match.end(), language)
                below, above = _TIMES[marker]
                words = _number_words(match.group(), language)
                yield Quantity(words, _around(match, language), Kind.TIMES, count, below * count, above * count)


def _orders(text: str, language: str) -> Iterator[Quantity]:
    for name, size in OF.items():
        for pattern in _patterns(name, language):
            for match in pattern.finditer(text):
                words = (*_number_words(match.group(), language), match.group())
                yield Quantity(
                    words,
                    _around(match, language),
                    Kind.NUMBER,
                    size,
                    0.0,
                    999 * size if size == 1e6 else 99 * size,
                )


def _rounded(text: str, language: str) -> Iterator[Quantity]:
    """Yield numbers marked as inexact, whole numbers of percent, and halves such as "half a million"."""
    for pattern in _patterns("half_of", language):
        for match in pattern.finditer(text):
            words = _number_words(match.group(), language)
            size = max(_value(word, language) for word in words) if words else 0.0
            yield _rough(text, match, Kind.NUMBER, size / 2, language, words)
    for pattern in _patterns("and_a_half", language):
        for match in pattern.finditer(text):
            size = _value(match["size"], language) if match.groupdict().get("size") else 1.0
            number = _value(match["count"], language) * size
            yield _rough(text, match, Kind.NUMBER, number + _last_magnitude(number) / 2, language)
    for figure in figures(text, language):
        if not figure.percent and figure.text.isdigit() and WHOLE_FROM <= figure.value < FIRST_YEAR:
            # 43.2 years are also "43 years".
            span = (figure.start, figure.end)
            yield Quantity((figure.text,), span, Kind.NUMBER, figure.value, HALF_POINT, HALF_POINT)
        marker = _marker(text, figure.start, figure.end, language)
        if figure.percent and not marker and figure.value.is_integer():
            # 17.2 % is also written "17 %".
            span = (figure.start, figure.end)
            off = max(0.0, min(HALF_POINT, figure.value / 10, (100 - figure.value) / 10))
            yield Quantity((figure.text,), span, Kind.SHARE, figure.value, off, off)
        elif marker and figure.value:
            kind = Kind.SHARE if figure.percent else Kind.NUMBER
            words = (figure.text, *figure.text.split())
            below, above = _parts(marker, figure.value)
            if figure.percent:
                below, above = (min(pair) for pair in zip((below, above), _points(marker, figure.value), strict=True))
            span = _span(text, (figure.start, figure.end), language)
            yield Quantity(words, span, kind, figure.value, below, above)


def _last_magnitude(number: float) -> float:
    """Return the thousands, millions or billions that a number counts: "two million and a half" adds half a million."""
    return next((size for size in (1e9, 1e6, 1e3) if number % size == 0), 1.0)


def _rough(
    text: str, match: re.Match[str], kind: Kind, value: float, language: str, words: tuple[str, ...] | None = None
) -> Quantity:
    marker = _marker(text, match.start(), match.end(), language)
    span = _around(match, language)
    return Quantity(words or _number_words(match.group(), language), span, kind, value, *_parts(marker, value))


def _parts(marker: str, value: float) -> tuple[float, float]:
    """Return by how much the exact number may be below and above one with this marker."""
    by_marker = {"": (0.0, 0.0), "over": (0.0, 0.15), "under": (0.1, 0.0), "at_most": (0.0, 0.0), "about": (0.1, 0.1)}
    below, above = by_marker[marker]
    return below * value, (WIDE if marker == "over" and _is_rough(value) else above) * value


def _is_rough(value: float) -> bool:
    """Tell whether a number is a power of ten or half of one: "over a hundred", "over half a million"."""
    return value >= 10 and f"{value:.15g}".rstrip("0") in ("1", "5")


def marker_before(text: str, start: int, language: str) -> str:
    """Return which of ROUNDING stands before a position in folded `text`; empty for none."""
    return next((kind for kind in ROUNDING if _markers(kind, language)[0].search(text[max(0, start - 40) : start])), "")


def _marker(text: str, start: int, end: int, language: str) -> str:
    """Return which of ROUNDING stands before a number or, failing that, right after it; empty for none."""
    after = next((kind for kind in ROUNDING if _markers(kind, language)[1].match(text, end)), "")
    return marker_before(text, start, language) or after


def _around(match: re.Match[str], language: str) -> tuple[int, int]:
    return _span(match.string, match.span(), language)


def _span(text: str, span: tuple[int, int], language: str) -> tuple[int, int]:
    """Return a quantity's span, widened by the words beside it that make it inexact."""
    start, end = span
    preceding = (_markers(kind, language)[0].search(text, max(0, start - 40), start) for kind in ROUNDING)
    following = (_markers(kind, language)[1].match(text, end) for kind in ROUNDING)
    start = min([start, *(match.start() for match in preceding if match)])
    return start, max([end, *(match.end() for match in following if match)])


def _listed(kind: str, language: str) -> list[str]:
    listed: list[str] = table("quantities")[kind].get(language, [])
    return listed


@lru_cache(maxsize=64)
def _markers(kind: str, language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    listed = _listed(kind, language)
    if not listed:
        return re.compile(r"(?!)"), re.compile(r"(?!)")
    articles = "|".join(table("quantities")["article"][language])
    either = "|".join(listed)
    return (
        re.compile(rf"(?<!\w)(?:{either})\s(?:(?:{articles})\s?)?\Z" if articles else rf"(?<!\w)(?:{either})\s\Z"),
        re.compile(rf"\w*\s(?:\w+\s)?(?:{either})(?!\w)" if language == "eu" else rf"\s(?:{either})(?!\w)"),
    )


@lru_cache(maxsize=32)
def _number(language: str) -> str:
    """Return a pattern for one number: digits, or number words in a row, so few that hostile text can't stall it.

    Only a number of at least FEWEST_JOINED is joined with more words: "a hundred and five", but not "one in twelve and
    one in ten".
    """
    grammar = pack(language).numbers
    known = {*grammar.words, *grammar.doubtful, *grammar.magnitudes, *ONE, *PARTS}
    large = {word for word in known if word_value(word, language) >= FEWEST_JOINED}
    either, joined = (
        "|".join(map(re.escape, sorted(words, key=len, reverse=True))) or "(?!)" for words in (known, large)
    )
    joiners = "|".join(grammar.joiners) or "(?!)"
    first = rf"(?:{joined})[\s-]?(?:{joiners})\s|(?:{either})[\s-]?"
    return rf"(?:\d+(?:[.,]\d+)?|(?<!\w)(?:{first}){{0,7}}(?:{either}))"


def _value(number: str, language: str) -> float:
    if number in ONE or number in PARTS:
        return PARTS.get(number, 1.0)
    read = figures(number, language)
    return read[0].value if len(read) == 1 else word_value(number, language)


def _number_words(text: str, language: str) -> tuple[str, ...]:
    """Return the wordings of the figures in a piece of text."""
    single = tuple(word for word in re.findall(r"[\w]+", text) if word_value(word, language))
    fractions = tuple(match.group() for match in _fractions(language).finditer(text))
    return (*(figure.text for figure in figures(text, language)), *single, *fractions, *text.split())


@lru_cache(maxsize=32)
def _fractions(language: str) -> re.Pattern[str]:
    lists = table("quantities")
    if language not in lists["parts"]:
        return re.compile(r"(?!)")
    parts = "|".join(
        rf"(?P<p{place}>{part})" for place, part in enumerate((*lists["halves"][language], *lists["parts"][language]))
    )
    follows = "|".join(lists["of"][language])
    of = rf"(?P<of>(?=\s(?:{follows}|the|all)(?!\w)))?" if follows else "(?P<of>)"
    counted = rf"(?<!\w)(?P<count>{_number(language)})[\s-]"
    return re.compile(rf"(?:{counted}|(?<!\w))(?:{parts})(?!\w){of}")


@lru_cache(maxsize=512)
def _patterns(kind: str, language: str) -> tuple[re.Pattern[str], ...]:
    unit = kind.removeprefix(SPAN)
    listed = _listed(unit, language)
    if unit != kind:
        after = r"(?:\s(?P<late>bat|erdi)\b)?" if language == "eu" else ""
        listed = [rf"(?:(?P<count>{{n}})[\s-](?:an?\s|of\sa\s|de\s)?)?(?:{each}){after}" for each in listed]
    number = _number(language) if any("{n}" in each for each in listed) else ""
    return tuple(re.compile(rf"(?<!\w)(?:{each.replace('{n}', number)})(?!\w)") for each in listed)


def is_plain(text: str, start: int, end: int, language: str) -> bool:
    """Tell whether a number is part of a figure of speech that counts nothing: "half of humanity", "think twice"."""
    return any(first <= start and end <= last for first, last in _plain_spans(text, language))


@lru_cache(maxsize=64)
def _plain_spans(text: str, language: str) -> tuple[tuple[int, int], ...]:
    return tuple(match.span() for pattern in _patterns("plain", language) for match in pattern.finditer(text))


def names_first_article(text: str, language: str) -> bool:
    """Tell whether folded `text` speaks of a law's first article, which is its article 1."""
    return any(pattern.search(text) for pattern in _patterns("first_article", language))


def has_majority(text: str, language: str) -> bool:
    """Tell whether folded `text` says that something is more than a half."""
    return any(pattern.search(text) for pattern in _patterns("majority", language))


def is_majority(word: str, language: str) -> bool:
    """Tell whether a folded word may stand for more than a half."""
    return any(pattern.fullmatch(word) for pattern in _patterns("majority_word", language))


def compares(text: str, language: str) -> bool:
    """Tell whether folded `text` sets one number against another, so that their ratio means something."""
    # "More than 400" compares nothing.
    beside = (text[match.end() :].lstrip()[:1] for match in words_pattern("than", language).finditer(text))
    return any(not after.isdigit() for after in beside) or any(
        pattern.search(text) for pattern in _patterns("compared", language)
    )
