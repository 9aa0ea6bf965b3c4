"""Read the figures of a text, in digits and in words, with the number words of a language pack."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from pipeline.guard.words import fold
from pipeline.languages import pack
from pipeline.languages.pack import Numbers

_GROUPED = r"\d{1,3}(?:[ .,']\d{3})+(?!\d)(?:[.,]\d{1,2}(?!\d))?"
_ADJOINS = re.compile(r"[\s\u2010-]?")
"""What may stand between the words of one number."""
_YEARS = re.compile(r"(?<![\w/-])(?P<century>1[5-9]|20)(?P<first>\d\d)[\u2010-\u2013-](?P<last>\d\d)(?![\w/-])")
"""A range of years: "2006-18"."""
_LONGEST_COMPOUND = 100
"""Most letters of a word that is searched for number words; "777,777" has 70 in German."""


@dataclass(frozen=True)
class Figure:
    """A number as written, its value, whether it is a percentage, and where in the folded text it starts."""

    text: str
    value: float
    percent: bool
    start: int = field(default=0, compare=False)

    @property
    def end(self) -> int:
        """Return the position after its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class _Token:
    """A piece of text that may belong to a number; `adjoins` tells whether it directly follows the one before."""

    kind: str
    value: float
    start: int
    end: int
    adjoins: bool


def figures(text: str, language: str) -> tuple[Figure, ...]:
    """Return the figures of `text`: "1.3 billion", "twenty-five", "treinta y uno por ciento"."""
    folded, grammar = fold(text), pack(language).numbers
    numbers = [_Number(grammar)]
    for token in _tokens(folded, language):
        if not (token.adjoins and numbers[-1].takes(token)):
            numbers.append(_Number(grammar))
            numbers[-1].takes(token)
    read = [number.figure(folded) for number in numbers if number.counts()]
    return tuple(_joined(read, folded, language))


def _joined(read: Sequence[Figure], text: str, language: str) -> Iterator[Figure]:
    """Yield the figures, two of them as one where each has its magnitude: "6 milioni 788 mila"."""
    last: Figure | None = None
    for figure in read:
        size = magnitude(figure, language)
        if last and size and figure.value < magnitude(last, language) and text[last.end : figure.start] == " ":
            last = Figure(text[last.start : figure.end], last.value + figure.value, last.percent, last.start)
            continue
        if last:
            yield last
        last = figure
    if last:
        yield last


def magnitude(figure: Figure, language: str) -> float:
    """Return the thousands or millions that a number in digits counts: 1,000,000 for "6 milioni"; otherwise 0."""
    last = figure.text.rpartition(" ")[2]
    return pack(language).numbers.magnitudes.get(last, 0.0) if figure.text[:1].isdigit() else 0.0


def value_of(number: str) -> float:
    """Return the value of digits with a decimal point or comma, or with separators between thousands."""
    if re.fullmatch(_GROUPED, number):
        mark = re.search(r"[.,](\d{1,2})$", number)
        whole = re.sub(r"\D", "", number[: mark.start()] if mark else number)
        return float(f"{whole}.{mark.group(1)}" if mark else whole)
    return float(number.replace(",", "."))


def word_value(word: str, language: str) -> float:
    """Return the value of one folded number word or of digits; 0 for any other word."""
    if word.isdecimal():
        return float(word)
    return _kinds(language).get(word, ("", 0.0))[1]


@dataclass
class _Number:
    """A number as far as it has been read, as addends of falling size: "two hundred and five" is 200 and 5.

    The next addend must be less than `room`; digits and words such as "half" leave none.
    """

    grammar: Numbers
    addends: list[float] = field(default_factory=list)
    tokens: list[_Token] = field(default_factory=list)
    room: float = float("inf")
    joining: bool = False
    percent: bool = False
    ended: bool = False

    def takes(self, token: _Token) -> bool:
        """Add one more token, unless the number ends before it; tell whether it was added."""
        taken = not self.ended and self._takes(token)
        if taken:
            self.joining = token.kind == "joiner"
            self.tokens += [] if self.joining else [token]
        return taken

    def counts(self) -> bool:
        """Tell whether this is a number; a single doubtful word is none unless it is a percentage."""
        return bool(self.addends) and (self.percent or [token.kind for token in self.tokens] != ["doubtful"])

    def figure(self, text: str) -> Figure:
        """Return the number with its wording in `text`."""
        start, end = self.tokens[0].start, self.tokens[-1].end
        written = text[start:end]
        years = _YEARS.match(text, start - 5) if start >= 5 else None
        if years and end == years.end() and years["first"] < years["last"]:
            return Figure(written, float(years["century"] + years["last"]), self.percent, start)
        return Figure(written, sum(self.addends), self.percent, start)

    def _takes(self, token: _Token) -> bool:
        match token.kind:
            case "percent":
                return self._takes_percent()
            case "joiner":
                return bool(self.addends) and not self.joining
            case "digits" | "alone":
                return self._takes_alone(token.value)
            case "magnitude":
                return self._takes_magnitude(token.value)
            case "word" | "doubtful":
                return self._takes_ten(token.value) or self._adds(token.value)
        return False

    def _takes_percent(self) -> bool:
        begins = not self.addends
        if self.percent or self.joining or self.grammar.percent_position == ("after" if begins else "before"):
            return False
        self.percent, self.ended = True, not begins
        return True

    def _takes_alone(self, value: float) -> bool:
        if self.addends:
            return False
        self.addends, self.room = [value], 0
        return True

    def _takes_ten(self, ten: float) -> bool:
        """Add a ten that follows its unit: "zweiundneunzig"."""
        in_turn = self.grammar.unit_first and self.joining and 0 < self.addends[-1] < 10
        if not in_turn or ten not in range(20, 100, 10):
            return False
        self.addends[-1] += ten
        self.room = 0
        return True

    def _takes_magnitude(self, magnitude: float) -> bool:
        """Multiply the addends below the magnitude; without any, add the magnitude: "two thousand", "thousand"."""
        multiplied = [addend for addend in self.addends if addend < magnitude]
        if not multiplied:
            return self._adds(magnitude)
        kept = self.addends[: -len(multiplied)]
        product = sum(multiplied) * magnitude
        if self.joining or (kept and product >= self._room_beside(kept[-1])):
            return False
        self.addends, self.room = [*kept, product], self._room_beside(product)
        return True

    def _adds(self, value: float) -> bool:
        if self.addends and not 0 < value < self.room:
            return False
        self.addends.append(value)
        self.room = self._room_beside(value)
        return True

    def _room_beside(self, value: float) -> float:
        """Return what the next addend must be less than: 100 after 200, 10 after 20; after 12 none fits."""
        if value in self.grammar.teens_after:
            return 20
        room = 1
        while value and value % (room * 10) == 0:
            room *= 10
        return room


def _tokens(text: str, language: str) -> Iterator[_Token]:
    kinds = _kinds(language)
    previous = 0
    for match in _pattern(language).finditer(text):
        start, kind = match.start(), str(match.lastgroup)
        adjoins = bool(_ADJOINS.fullmatch(text, previous, start))
        if kind == "word":
            for word in _parts(match.group(), language):
                yield _Token(*kinds.get(word, ("other", 0)), start, start + len(word), adjoins)
                start, adjoins = start + len(word), True
        else:
            yield _Token(kind, value_of(match.group()) if kind == "digits" else 0, start, match.end(), adjoins)
        previous = match.end()


@lru_cache(maxsize=32)
def _kinds(language: str) -> Mapping[str, tuple[str, float]]:
    """Return kind and value of every word that may belong to a number."""
    grammar = pack(language).numbers
    valued = {
        "alone": grammar.alone,
        "doubtful": grammar.doubtful,
        "magnitude": grammar.magnitudes,
        "word": grammar.words,
        "joiner": dict.fromkeys(grammar.joiners, 0.0),
    }
    return {word: (kind, value) for kind, values in valued.items() for word, value in values.items()}


@lru_cache(maxsize=32)
def _pattern(language: str) -> re.Pattern[str]:
    phrases = "".join(rf"\b{word}\b|" for word in _kinds(language) if " " in word)
    return re.compile(
        rf"(?P<digits>{_GROUPED}|\d+(?:[.,]\d+)?)"
        rf"|(?P<percent>%|(?<![^\W\d_])(?:{'|'.join(pack(language).numbers.percent)})\b)"
        rf"|(?P<word>{phrases}[^\W\d_]+)"
    )


def _parts(word: str, language: str) -> tuple[str, ...]:
    """Return the number words that a word is made of, or the word itself if it is none."""
    if not pack(language).numbers.compounds or len(word) > _LONGEST_COMPOUND:
        return (word,)
    return _split(word, language) or (word,)


@lru_cache(maxsize=16384)
def _split(word: str, language: str) -> tuple[str, ...]:
    for end in range(len(word), 0, -1):
        rest = _split(word[end:], language) if word[:end] in _kinds(language) else ()
        if rest or (end == len(word) and word in _kinds(language)):
            return (word[:end], *rest)
    return ()
