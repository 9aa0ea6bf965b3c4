"""Resolve words of hostile posts that are written with digits and signs for letters: "1diots", "$cum", "k 1 l l".

Digits and signs mean something of their own in most places ("$5", "covid19", "4 people", "stop!"). So only what becomes
a word that the language packs list is resolved: groups of people, insults, what is said of them, and what is done to
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from operator import add

from pipeline.languages import packs

_TOKEN = re.compile(r"(?<![\w$@!])(?!\d+[^\W\d_]{1,2}(?![\w$@!]))[\w$@!]{3,30}(?<![@!])(?![\w$@]|!\w)")
_SPACED = re.compile(r"(?<![\w$@!])[\w$@]([ .*_-])[\w$@!](?:\1[\w$@!]){1,20}(?<!!)(?![\w$@])")
_BETWEEN = re.compile(r"[@!]")
"""Signs that also stand between words: "girls!no"."""
_ENDING = re.compile(r"([^\W\d_]+)(\$|\d+)")
_NO = re.compile(r"\b([nN])0\b")
_LETTERS = str.maketrans("03457@$!", "oeastasi")
_FEWEST_LETTERS, _LONG = 2, 5
_MOST_ONES = 4
"""A 1 is an i or an l, so that each doubles the words that a token may be."""


def undisguised(text: str) -> str:
    """Return the text with disguised words that the packs list resolved, and "n0"."""
    text = _TOKEN.sub(lambda token: _resolved(token.group()), _NO.sub(r"\1o", text))
    return _SPACED.sub(_joined, text)


def _joined(run: re.Match[str]) -> str:
    together = run.group().replace(run.group(1), "")
    resolved = _resolved(together)
    return run.group() if resolved == together else resolved


def _resolved(token: str) -> str:
    """Return the listed word that is disguised as `token`, or the token."""
    if token.isalpha() or sum(map(str.isalpha, token)) < _FEWEST_LETTERS:
        return token
    # Spanish writes both genders so: "amig@s".
    if token.lower().endswith("@s"):
        return token
    if (ending := _ENDING.fullmatch(token)) and _is_listed(word := ending[1]):
        # A short word with a digit, or any with several, may be a figure: "the last5 years", "migrants2015".
        return token if len(word) < _LONG or len(ending[2]) > 1 else _in_plural(word, ending[2])
    if any(map(_is_listed, _BETWEEN.split(token))):
        return token
    for word in _readings(token.translate(_LETTERS)):
        if _is_listed(word):
            return word.upper() if token.isupper() else word
    return token


def _in_plural(word: str, sign: str) -> str:
    """Return a word with an "s" for the sign at its end if it may be one."""
    plural = word + ("S" if word.isupper() else "s")
    return plural if sign in "5$" and word[-1] not in "sS" and _is_listed(plural) else word


def _readings(token: str) -> Iterator[str]:
    first, *rest = token.split("1")
    if len(rest) <= _MOST_ONES:
        for ones in product("il", repeat=len(rest)):
            yield first + "".join(map(add, ones, rest))


def _is_listed(word: str) -> bool:
    return len(word) > 3 and word.isalpha() and _listed().fullmatch(word.lower()) is not None


@lru_cache(maxsize=1)
def _listed() -> re.Pattern[str]:
    patterns: set[str] = set()
    for pack in packs().values():
        for term in (*pack.insults, *(term for terms in pack.groups.values() for term in terms)):
            patterns.add(re.escape(term).replace(r"\*", r"\w{0,6}"))
        patterns.update(pack.stance.hostile)
        for words in ("harm", "harming", "harmed"):
            patterns.update(pack.escalation.words.get(words, ()))
    return re.compile("|".join(sorted(patterns)))
