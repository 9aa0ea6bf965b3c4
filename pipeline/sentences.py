"""Split a text into sentences, in many languages, around "4.9%", "Art. 7", "U.N." and "A/RES/80/193"."""

from __future__ import annotations

import re

import sentencex

_ABBREVIATION = re.compile(
    r"(?:^|[\s('’\"])(?:art|arts|no|nos|nr|núm|par|para|paras|p|pp|vol|cf|vs|al)\.$", re.IGNORECASE
)
_ELLIPSIS_BREAK = re.compile(r"(?<=…)\s+(?=[^\W\d_a-z]|[¿¡\"“«])")
_WORDS = re.compile(r"\w")
_END = re.compile(r"[.!?…。！？؟।]+[\"'”’»)\]]*$")


def split(text: str, language: str = "en") -> tuple[str, ...]:
    """Return the sentences of `text`, trimmed, in order; `language` is ISO 639, unknown ones are read like English.

    A line break and an ellipsis before a capital end a sentence. Pieces without a letter or digit join their neighbour.
    """
    found: list[str] = []
    for line in text.splitlines():
        glue = False
        for piece in _pieces(line, language):
            if found and (glue or not _WORDS.search(piece)):
                found[-1] = f"{found[-1]} {piece}"
            else:
                found.append(piece)
            glue = bool(_ABBREVIATION.search(piece))
    return tuple(found)


def is_complete(sentence: str) -> bool:
    """Tell whether a sentence ends in a full stop, question mark, exclamation mark or ellipsis."""
    return bool(_END.search(sentence))


def is_question(sentence: str) -> bool:
    """Tell whether a sentence ends in a question mark."""
    return sentence.rstrip("\"'”’»)] ").endswith(("?", "？", "؟"))


def _pieces(line: str, language: str) -> list[str]:
    segments = sentencex.segment("en" if language == "und" else language, line)
    return [piece.strip() for segment in segments for piece in _ELLIPSIS_BREAK.split(segment) if piece.strip()]
