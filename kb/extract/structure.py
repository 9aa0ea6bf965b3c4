"""Find the place of each passage - article, paragraph, recital, page - and drop what is not the document's text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kb.extract.passages import Passage
from kb.paragraphs import Block

_ARTICLE = re.compile(
    r"(?:Article|Artículo|Articolo|Artikel|Artigo|Статья|ARTICLE|ARTÍCULO|ARTICOLO|ARTIKEL)\s+"
    r"(premier|first|\d+[a-z]?|[IVXLC]+|[A-Z])\b\.?(?:,? paragraphs? [\d and-]+)?(?:\s*[-–—:.]\s*\S.{0,120})?"
)
_PREAMBLE = re.compile(r"Preamble|Präambel|Préambule|Preámbulo|Preambolo|Преамбула", re.IGNORECASE)
_ANNEX = re.compile(
    r"(Annex|Appendix|Schedule|Final Act)(?:\s+(\d+|[IVX]+|[A-Z])(?=[\s.:–-]|$))?.{0,120}", re.IGNORECASE
)
_OPENING = re.compile(
    r"The (?:General Assembly|Security Council|Human Rights Council|Economic and Social Council|"
    r"Commission on \w[\w ]+),?"
)
_CLOSING = re.compile(r"\d+(?:st|nd|rd|th)(?: \(\w+\))? (?:plenary )?meeting\b.{0,60}")
_NUMBERED = re.compile(r"(\d{1,3})\.\s+\S")
_SIGNED = re.compile(
    r"\b(?:IN (?:FAITH|WITNESS) WHEREOF|EN FOI DE QUOI|EN FE DE LO CUAL|IN FEDE DI CHE|ZU URKUND DESSEN)\b|"
    r"^(?:Done|DONE) (?:at|in|AT|IN) [A-Z].{0,60}\b(?:\d{4}|day of|this)\b|"
    r"^(?:Fait à|Hecho en|Fatto a|Geschehen zu) .{0,60}\d{4}",
    re.IGNORECASE,
)
_FEWEST_NUMBERED = 8
"""Numbered paragraphs from which a document is cited by their numbers; fewer are just a list."""


def blocks_of(passages: Sequence[Passage]) -> list[Block]:
    """Return the document's text in blocks, each with its place."""
    text = _without_masthead(passages)
    if any(passage.place for passage in text):
        blocks = _by_given_place(text)
    elif sum(_is_article(passage) for passage in text) >= 2:
        blocks = _by_article(text)
    elif _count_numbered(text) >= (1 if text is not passages else _FEWEST_NUMBERED):
        blocks = _by_number(text)
    else:
        blocks = _by_page(text)
    return list(_without_signatures(blocks))


def _without_masthead(passages: Sequence[Passage]) -> Sequence[Passage]:
    """Start at the line in which a United Nations body begins to speak; what precedes it is the masthead."""
    for index, passage in enumerate(passages[:60]):
        if _OPENING.fullmatch(passage.text):
            return [replace(passages[index], heading=False), *passages[index + 1 :]]
    return passages


def _by_given_place(passages: Iterable[Passage]) -> Iterator[Block]:
    for passage in passages:
        if not passage.heading and passage.place:
            yield Block(passage.text, passage.place, re.sub(r"Recital \d+", "Recitals", passage.place))


def _by_article(passages: Iterable[Passage]) -> Iterator[Block]:
    annex, place = "", "Preamble"
    for passage in passages:
        if _is_article(passage) and (hit := _ARTICLE.match(passage.text)):
            place = f"{annex}{_article(hit[1])}"
        elif passage.heading and _PREAMBLE.fullmatch(passage.text):
            place = f"{annex}Preamble"
        elif passage.heading and (named := _annex(passage.text)):
            annex, place = f"{named}, ", named
        elif not passage.heading:
            yield Block(passage.text, place, place)


def _by_number(passages: Iterable[Passage]) -> Iterator[Block]:
    annex, place, number, section = "", "", 1, 0
    for passage in passages:
        hit = _NUMBERED.match(passage.text)
        if passage.heading and (named := _annex(passage.text)):
            annex, place, number, section = f"{named}, ", named, 1, section + 1
        elif hit and int(hit[1]) == number:
            place = f"{annex}{'paragraph' if annex else 'Paragraph'} {number}"
            number += 1
        elif _CLOSING.match(passage.text):
            place = "-"
        elif passage.heading:
            section += 1
        if not (passage.heading or place == "-"):
            yield Block(passage.text, place or "Preamble", f"{section} {place and 'body'}")


def _by_page(passages: Iterable[Passage]) -> Iterator[Block]:
    place, section = "Text", 0
    for passage in passages:
        if passage.page:
            place = f"Page {passage.page}"
        elif passage.heading:
            place = f"“{passage.text[:80]}”"
        if passage.heading:
            section += 1
        elif not _CLOSING.match(passage.text):
            yield Block(passage.text, place, str(section))


def _without_signatures(blocks: Iterable[Block]) -> Iterator[Block]:
    """Drop the closing formula and the signatures after it, up to the next place."""
    signed = ""
    for block in blocks:
        if block.place == signed:
            continue
        hit = _SIGNED.search(block.text)
        if hit is None:
            yield block
            continue
        signed = block.place
        if before := block.text[: hit.start()].strip():
            yield replace(block, text=before)


def _is_article(passage: Passage) -> bool:
    return (passage.heading or len(passage.text.split()) <= 3) and bool(_ARTICLE.fullmatch(passage.text))


def _article(number: str) -> str:
    return f"Article {1 if number in ('premier', 'first') else number}"


def _annex(text: str) -> str:
    hit = _ANNEX.fullmatch(text)
    return " ".join([hit[1].capitalize(), *([hit[2]] if hit[2] else [])]) if hit else ""


def _count_numbered(passages: Iterable[Passage]) -> int:
    number = 0
    for passage in passages:
        hit = _NUMBERED.match(passage.text)
        number += bool(hit and int(hit[1]) == number + 1)
    return number
