"""Split a text into sentences, in many languages, around "4.9%", "Art. 7", "U.N." and "A/RES/80/193"."""

from __future__ import annotations

import re
from collections.abc import Collection

import sentencex

_ELLIPSIS_BREAK = re.compile(r"(?<=…)\s+(?=[^\W\d_a-z]|[¿¡\"“«])")
_ACRONYM_BREAK = re.compile(r"(?<=[A-Z][A-Z]\.)\s+(?=[^\W\d_a-z]|[¿¡])(?!UU\.)")
"""After an acronym, which some languages' rules take for an abbreviation."""
_NO_BREAK = re.compile(r"(?:(?<=\bno\.)|(?<=\bnato\.))\s+(?=[^\W\d_a-zß-ÿ]|[¿¡])")
"""After "no" and "nato", words that the Italian and Spanish rules take for "number" and for the alliance."""
_WORDS = re.compile(r"\w")
_LAST_WORD = re.compile(r"(?:^|[\s('’\"])([^\W\d_]+)\.$")
_END = re.compile(r"[.!?…。！？؟।]+[\"'”’»)\]]*$")


def split(text: str, language: str = "en", *, unfinished: Collection[str] = ()) -> tuple[str, ...]:
    """Return the sentences of `text`, trimmed, in order; `language` is ISO 639, unknown ones are read like English.

    A line break and an ellipsis before a capital end a sentence; after an abbreviation in `unfinished` (in lower case,
    no final point) it goes on. Pieces without a letter or digit join their neighbour.
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
    for end in (_ELLIPSIS_BREAK, _ACRONYM_BREAK, _NO_BREAK):
        pieces = [piece for broken in pieces for piece in end.split(broken)]
    return [piece.strip() for piece in pieces if piece.strip()]
