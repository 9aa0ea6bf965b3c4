"""Write the grammar that keeps a llama.cpp model to one or two plain sentences.

GBNF is described in llama.cpp's `grammars/README.md`.
"""

from __future__ import annotations

from core.domain import Intent
from pipeline.languages import packs

CHARACTERS_PER_WORD = 6
FEWEST_WORDS, MOST_WORDS = 4, 45

_FORBIDDEN = r" .!?。！？\t\r\n<>{}\[\]|`*_#@~\\"


def two_sentences(intent: Intent, max_chars: int) -> str:
    """Return GBNF for exactly two sentences, or one or two when questioning, of about `max_chars` characters at most.

    A point may stand inside a figure ("4.9%") and in a listed abbreviation. Characters of mentions, links and markup
    can't be written. The length is bounded in words, so the guard still measures it.
    """
    words = max(FEWEST_WORDS + 4, min(MOST_WORDS, max_chars // (2 * CHARACTERS_PER_WORD)))
    root = 'sentence (" " sentence)?' if intent is Intent.QUESTIONING else 'sentence " " sentence'
    abbreviations = " | ".join(f'"{abbreviation}"' for pack in packs().values() for abbreviation in pack.abbreviations)
    return "\n".join(
        [
            f"root ::= {root}",
            f'sentence ::= opening? word (" " word){{{FEWEST_WORDS - 1},{words - 1}}} end',
            'opening ::= "¿" | "¡" | "\\""',
            "word ::= abbreviation | plain",
            f"abbreviation ::= {abbreviations}",
            'plain ::= chunk ("." [0-9] [0-9]? [0-9]? suffix?)*',
            f"chunk ::= [^{_FORBIDDEN}]{{1,30}}",
            'suffix ::= "%" | [,;:)]',
            'end ::= [.!?] "\\""?',
            "",
        ]
    )
