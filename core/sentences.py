"""Sentence splitting for many languages, which copes with "4.9%", "Art. 7", "U.N." and "A/RES/80/193"."""

from __future__ import annotations

import re
from collections.abc import Collection

import sentencex

_ELLIPSIS_BREAK = re.compile(r"(?<=…)\s+(?=[^\W\d_a-z]|[¿¡\"“«])")
_ACRONYM_BREAK = re.compile(r"(?<=[A-Z][A-Z]\.)\s+(?=[^\W\d_a-z]|[¿¡])(?!UU\.)")
"""A break after an acronym, which the rules of some languages mistake for an abbreviation."""
_WHOLE_WORDS = (
    "ai", "bar", "bien", "ci", "con", "contra", "fa", "fai", "fed", "fin", "hetero", "ia", "ill", "la", "le", "li",
    "lo", "ma", "mai", "mar", "may", "me", "mi", "min", "miss", "nato", "ne", "no", "nos", "ok", "ore", "rom", "sa",
    "sai", "se", "si", "sia", "so", "sobre", "su", "te", "trans", "tv", "uni", "usa", "va", "vi", "via",
    "Inps", "Irpef", "Istat", "Nato", "Unesco",
)  # fmt: skip
"""Words that sentences end with, and that the rules of a language mistake for abbreviations; capitals matter."""
_WORD_BREAK = re.compile("|".join(rf"(?<=\b{word}\.)\s+(?=[^\W\d_a-zß-ÿ]|[¿¡])" for word in _WHOLE_WORDS))
_WORDS = re.compile(r"\w")
_LAST_WORD = re.compile(r"(?:^|[\s('’\"])([^\W\d_]+)\.$")
_END = re.compile(r"[.!?…。！？؟।]+[\"'”’»)\]]*$")


def split(text: str, language: str = "en", *, unfinished: Collection[str] = ()) -> tuple[str, ...]:
    """Return the sentences of `text` in order, trimmed; `language` is ISO 639, unknown ones are treated like English.

    A line break ends a sentence, and so does an ellipsis before a capital. After an abbreviation in `unfinished` (lower
    case, without the final point) the sentence continues. Pieces without a letter or digit are joined to the piece
    before.
    """
    sentences: list[str] = []
    for line in text.splitlines():
        goes_on = False
        for piece in _pieces(line, language):
            if sentences and (goes_on or not _WORDS.search(piece)):
                sentences[-1] = f"{sentences[-1]} {piece}"
            else:
                sentences.append(piece)
            last = _LAST_WORD.search(piece)
            goes_on = last is not None and last[1].lower() in unfinished
    return tuple(sentences)


def is_complete(sentence: str) -> bool:
    """Tell whether a sentence ends in a full stop, question mark, exclamation mark or ellipsis."""
    return bool(_END.search(sentence))


def is_question(sentence: str) -> bool:
    """Tell whether a sentence ends in a question mark."""
    return sentence.rstrip("\"'”’»)] ").endswith(("?", "？", "؟"))


def _pieces(line: str, language: str) -> list[str]:
    segments = sentencex.segment("en" if language == "und" else language, line)
    pieces = [str(segment) for segment in segments]
    for end in (_ELLIPSIS_BREAK, _ACRONYM_BREAK, _WORD_BREAK):
        pieces = [piece for broken in pieces for piece in end.split(broken)]
    return [piece.strip() for piece in pieces if piece.strip()]
