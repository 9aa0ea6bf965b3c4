"""Pack a document's text into paragraphs of a size suited to search and quotation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import sentencex

FEWEST_WORDS = 40
MOST_WORDS = 180

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CLAUSE = re.compile(r"(?<=[;:；])\s*(?=\S)")
_LIST_MARK = re.compile(r"\(?\w{1,3}[.)]")
_COUNTED = re.compile(r"(.*?)(Paragraph|paragraph|Recital|Page) (\d+)")
_UNSAFE = re.compile(r"[^\w]+")


@dataclass(frozen=True)
class Block:
    """A piece of text with the place it is cited by; only neighbours with the same `within` are merged."""

    text: str
    place: str
    within: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph named by its place: `key` is unique within its document, and as stable as the place."""

    key: str
    text: str
    place: str


@dataclass(frozen=True)
class _Piece:
    text: str
    first: str
    last: str

    @property
    def words(self) -> int:
        return count_words(self.text)

    def __add__(self, other: _Piece) -> _Piece:
        return _Piece(f"{self.text} {other.text}", self.first, other.last)


def count_words(text: str) -> int:
    """Count words; in Chinese, Japanese and Korean, which don't separate words, two characters count as one."""
    return len(text.split()) + len(_CJK.findall(text)) // 2


def paragraphs_of(blocks: Iterable[Block], language: str = "en") -> list[Paragraph]:
    """Pack blocks of text in `language` (ISO 639-1) into paragraphs of 40 to 180 words.

    Short blocks are merged with their neighbours, long ones split at sentences, then at clauses. An article of fewer
    than 40 words stays alone, since its neighbour is another rule.
    """
    paragraphs: list[Paragraph] = []
    used = Counter[str]()
    for _, group in groupby(blocks, key=lambda block: block.within):
        for piece in _packed(list(group), language):
            place = _span(piece.first, piece.last)
            slug = _UNSAFE.sub("-", place.casefold()).strip("-") or "text"
            used[slug] += 1
            paragraphs.append(Paragraph(slug if used[slug] == 1 else f"{slug}.{used[slug]}", piece.text, place))
    return paragraphs


def sentences(text: str, language: str = "en") -> list[str]:
    """Split a text at its sentence ends; a mark such as `2.` or `(a)` belongs to the sentence that follows it."""
    parts: list[str] = []
    for segment in sentencex.segment(language or "en", text):
        part = segment.strip()
        if parts and _LIST_MARK.fullmatch(parts[-1]):
            parts[-1] = f"{parts[-1]} {part}"
        elif part:
            parts.append(part)
    return parts


def _packed(blocks: Sequence[Block], language: str) -> list[_Piece]:
    packed: list[_Piece] = []
    for piece in (piece for block in blocks for piece in _fitting(block, language)):
        # A text that ends in a colon introduces the next one, so it is not merged with the one before.
        short = packed and (packed[-1].words < FEWEST_WORDS or (piece.words < FEWEST_WORDS and piece.text[-1:] != ":"))
        if short and packed[-1].words + piece.words <= MOST_WORDS:
            packed[-1] += piece
        else:
            packed.append(piece)
    return list(_balanced(packed, language))


def _balanced(pieces: Iterable[_Piece], language: str) -> Iterator[_Piece]:
    """Redistribute words between a piece that is still too short and a neighbour without room for it."""
    previous: _Piece | None = None
    for piece in pieces:
        if previous and min(previous.words, piece.words) < FEWEST_WORDS:
            joined = previous + piece
            *ready, last = _split(joined.text, -(-joined.words // MOST_WORDS), language)
            yield from (_Piece(text, previous.first, previous.last) for text in ready)
            previous = _Piece(last, piece.first if ready else previous.first, piece.last)
        else:
            if previous:
                yield previous
            previous = piece
    if previous:
        yield previous


def _fitting(block: Block, language: str) -> Iterator[_Piece]:
    size = count_words(block.text)
    parts = [block.text] if size <= MOST_WORDS else _split(block.text, -(-size // MOST_WORDS), language)
    return (_Piece(text, block.place, block.place) for text in parts)


def _split(text: str, parts: int, language: str) -> list[str]:
    """Cut a text into at least `parts` pieces of about the same size, none above MOST_WORDS."""
    goal = count_words(text) / parts
    pieces = [""]
    for atom in _atoms(text, language):
        grown = f"{pieces[-1]} {atom}".strip()
        size = count_words(grown)
        if pieces[-1] and (size > MOST_WORDS or size - goal > goal - count_words(pieces[-1])):
            pieces.append(atom)
        else:
            pieces[-1] = grown
    return pieces


def _atoms(text: str, language: str) -> Iterator[str]:
    """Yield sentences, or for one that is too long its clauses, or for such a clause runs of words."""
    for sentence in sentences(text, language):
        for clause in [sentence] if count_words(sentence) <= MOST_WORDS // 2 else _CLAUSE.split(sentence):
            words = clause.split() if count_words(clause) > MOST_WORDS else [clause]
            size = len(words) if len(words) == 1 else MOST_WORDS // 2
            yield from (" ".join(words[start : start + size]) for start in range(0, len(words), size))


def _span(first: str, last: str) -> str:
    """Name the place from `first` to `last`: `Paragraphs 12-14`."""
    begin, end = _COUNTED.fullmatch(first), _COUNTED.fullmatch(last)
    if first == last:
        return first
    if begin and end and begin.groups()[:2] == end.groups()[:2]:
        return f"{begin[1]}{begin[2]}s {begin[3]}-{end[3]}"
    return f"{first} to {last}"
