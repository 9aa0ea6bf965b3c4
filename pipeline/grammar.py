"""Write the grammar that keeps a llama.cpp model to one or two plain sentences.

GBNF is described in llama.cpp's `grammars/README.md`.
"""

from __future__ import annotations

from core.domain import Intent
from pipeline.languages import has_pack, packs

CHARACTERS_PER_WORD = 6
FEWEST_WORDS, MOST_WORDS = 4, 45
LONGEST_LINE = 120
"""Characters of a line of a list; a higher bound makes llama.cpp's grammar slow."""

_LETTERS_AND_POINTS = "a-zA-ZÀ-ÖØ-öø-ɏ,;:'’‘“”\"«»()/&–—-"
"""What a word may consist of in languages with a pack, which are all written in Latin letters.

A list of what is forbidden won't do: kept from digits, models write "in ￥ ￥", "in ۱۹۵۲" or "over ⅓" instead.
"""
_FIGURES = "0-9%‰€$£+ºª"
_FORBIDDEN = r" .!?。！？\t\r\n<>{}\[\]|`*_#@~\\"
_DIGITS = "0-9²³¹⁰⁴-⁹₀-₉"


def two_sentences(intent: Intent, max_chars: int, language: str) -> str:
    """Return GBNF for exactly two sentences, or one or two when questioning, of about `max_chars` characters at most.

    A point may stand inside a figure ("4.9%") and in a listed abbreviation. Characters of mentions, links and markup
    are excluded. The grammar counts words, so the guard still measures the length.
    """
    words = max(FEWEST_WORDS + 4, min(MOST_WORDS, max_chars // (2 * CHARACTERS_PER_WORD)))
    root = 'sentence (" " sentence)?' if intent is Intent.QUESTIONING else 'sentence " " sentence'
    return _with_sentence(root, words, language, digits=True)


def sentence_and_fact(max_chars: int, facts: int, language: str) -> str:
    """Return GBNF for one sentence of about `max_chars` characters without digits, then the number of one of the facts.

    For example: `Everyone belongs here. [2]`. Without digits there can be no figures, years or article numbers, but
    there can be names.
    """
    words = max(FEWEST_WORDS + 2, min(MOST_WORDS, max_chars // CHARACTERS_PER_WORD))
    root = f'sentence " [" ({_numbers(facts)}) "]"'
    return _with_sentence(root, words, language, digits=False)


def numbered_lines(count: int) -> str:
    """Return GBNF for `count` lines, each starting with its number and a full stop."""
    lines = ' "\\n" '.join(f'"{number}. " line' for number in range(1, count + 1))
    return f"root ::= {lines}\nline ::= [^\\n]{{3,{LONGEST_LINE}}}\n"


def one_line() -> str:
    """Return GBNF for a text without line breaks, limited only by its number of tokens."""
    return "root ::= [^\\n]+\n"


def choice(count: int) -> str:
    """Return GBNF for a number from 1 to `count`."""
    return f"root ::= {_numbers(count)}\n"


def scores(count: int) -> str:
    """Return GBNF for `count` numbers from 0 to 10, separated by spaces."""
    return "root ::= " + ' " " '.join(["score"] * count) + '\nscore ::= "10" | [0-9]\n'


def _numbers(count: int) -> str:
    return " | ".join(f'"{number}"' for number in range(1, count + 1))


def _with_sentence(root: str, words: int, language: str, *, digits: bool) -> str:
    """Return GBNF for `root`, with the rule for its sentences: each has at most `words` words."""
    figures = _FIGURES if digits else ""
    latin = f"[{figures}{_LETTERS_AND_POINTS}]"
    any_script = f"[^{_FORBIDDEN}{'' if digits else _DIGITS}]"
    decimals = ' ("." [0-9] [0-9]? [0-9]? suffix?)*' if digits else ""
    abbreviations = " | ".join(f'"{abbreviation}"' for pack in packs().values() for abbreviation in pack.abbreviations)
    return "\n".join(
        [
            f"root ::= {root}",
            f'sentence ::= opening? word (" " word){{{FEWEST_WORDS - 1},{words - 1}}} end',
            'opening ::= "¿" | "¡" | "\\""',
            "word ::= abbreviation | plain",
            f"abbreviation ::= {abbreviations}",
            f"plain ::= chunk{decimals}",
            f"chunk ::= {latin if has_pack(language) else any_script}{{1,30}}",
            *(['suffix ::= "%" | [,;:)]'] if digits else []),
            'end ::= [.!?] "\\""?',
            "",
        ]
    )
