"""Take a text apart into words and stems that can be compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from pipeline.guard.lexicon import table
from pipeline.guard.lexicon import words as lexicon

# Scripts written without spaces count one character as one word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]|[^\W_]+(?:['’][^\W_]+)*")
_IRREGULAR = {
    "women": "woman",
    "men": "man",
    "children": "child",
    "people": "person",
    "lives": "life",
    "wives": "wife",
    "given": "give",
    "gave": "give",
    "says": "say",
    "said": "say",
    "held": "hold",
    "paid": "pay",
    "chose": "choose",
    "chosen": "choose",
    "found": "find",
    "made": "make",
    "took": "take",
    "taken": "take",
    "jew": "jew",
    "jews": "jew",
    "jewish": "jew",
    "moslem": "muslim",
    "told": "tell",
    "taught": "teach",
    "thought": "think",
    "left": "leave",
}
_SUFFIXES = (
    "isations",
    "isation",
    "izations",
    "ization",
    "ations",
    "ation",
    "ating",
    "ated",
    "ates",
    "ate",
    "ities",
    "ity",
    "ments",
    "ment",
    "ness",
    "ising",
    "izing",
    "ised",
    "ized",
    "ises",
    "izes",
    "ise",
    "ize",
    "ions",
    "ion",
    "ings",
    "ing",
    "ally",
    "als",
    "al",
    "ives",
    "ive",
    "ies",
    "ied",
    "ers",
    "er",
    "ors",
    "or",
    "ed",
    "es",
    "ly",
    "os",
    "as",
    "en",
    "s",
    "y",
    "e",
    "o",
    "a",
    "i",
)
_SHORTEST_STEM = 4
FIRST_UNSPACED = "\u0e00"
"""Where the scripts begin that are written without spaces; there a single character is a word."""


def fold(text: str) -> str:
    """Return `text` in lower case, compatibility forms and accents folded, typographic apostrophes made plain."""
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'")).casefold()
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def words(text: str) -> tuple[str, ...]:
    """Return the folded words of `text` in order; possessive endings are dropped."""
    return tuple(word.removesuffix("'s") for word in _WORD.findall(fold(text)))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a crude stem of a folded word, so that "discriminated" meets "discrimination" in five languages alike.

    Suffixes come off until none fits or fewer than four characters would stay.
    """
    word = _IRREGULAR.get(word, word)
    while True:
        for suffix in _SUFFIXES:
            if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
                word = word[: -len(suffix)]
                break
        else:
            return word


def stems(found: Iterable[str]) -> frozenset[str]:
    """Return the stems of folded words."""
    return frozenset(map(stem, found))


def content(found: Iterable[str]) -> frozenset[str]:
    """Return the stems of those folded words that carry meaning: no function words, no single letters."""
    return frozenset(
        stem(word) for word in found if (len(word) > 1 or word >= FIRST_UNSPACED) and word not in function_words()
    )


@lru_cache(maxsize=1)
def function_words() -> frozenset[str]:
    """Return the folded function words of all languages in the lexicon."""
    return frozenset(word for entry in lexicon().values() for text in entry["function"] for word in words(text))


@lru_cache(maxsize=32)
def claim_stems(language: str) -> frozenset[str]:
    """Return stems a reply may use without evidence: the vocabulary of rights, fairness and disagreement.

    That is the list in the lexicon and what the composer's claim templates say.
    """
    known = language if language in lexicon() else "en"
    intents = (entry for entry in table("templates")[known].values() if "any" in entry)
    said = (template.replace("{evidence}", "") for entry in intents for found in entry.values() for template in found)
    return stems(word for text in (*lexicon()[known]["claim"], *said) for word in words(text))
