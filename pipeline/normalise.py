"""Bring hostile spelling into a plain form: for models (`normalise`, `spelled_out`), and for rules (`fold_disguised`).

No form is ever shown to anybody; people see the post as it was written.
"""

from __future__ import annotations

import html
import re
import unicodedata

from core.domain import clean
from core.lookalikes import latin
from pipeline.disguises import undisguised

SOMEONE = "@user"
LINK = "[link]"

_MENTION = re.compile(r"(?<![\w@/.])@\w[\w.-]*|<user>|\[user\]", re.IGNORECASE)
_URL = re.compile(r"(?:https?://|www\.)\S+|<url>|\[url\]", re.IGNORECASE)
_AGAIN = re.compile(rf"(?:{SOMEONE}[^\w@]*){{2,}}")
_LONG_LETTERS = re.compile(r"([^\W\d_])\1{2,}", re.IGNORECASE)
_LONG_SIGNS = re.compile(r"([^\w\s])\1{3,}")
_LONG_VOWELS = re.compile(r"([aeiou])\1{2,}")
_SPACED_OUT = re.compile(r"(?<!\w)[^\W\d_](?:([.*_-]| {1,3})[^\W\d_])(?:\1[^\W\d_])+(?!\w)")
_LEET = re.compile(r"(?<=[a-z])[013457@$!]+(?=[a-z])")
_PLAIN_LEET = re.compile(r"(?<=[^\W\d_])[013457$]{1,2}(?=[^\W\d_])")
"""Leet without "@" and "!", which people may mean: these stand in addresses and end sentences."""
_LEET_LETTERS = str.maketrans("013457@$!", "oieastasi")
_WORD = re.compile(r"\w+")
_AND_EM = re.compile(r"(?<=\w)'em\b")
_WEAPONS = {
    "🔫": "shoot",
    "🔪": "stab",
    "🗡": "stab",
    "💣": "bomb",
    "🪓": "axe",
    "⚰": "dead",
    "👊": "punch",
    "🩸": "blood",
}
_FIRST_SYMBOL = "\u2190"
"""The first arrow: symbols before it, such as accents that stand alone, are signs of writing."""
_MODIFIER = re.compile(r"^EMOJI MODIFIER FITZPATRICK |^REGIONAL INDICATOR SYMBOL LETTER ")
_WEAPON_WORDS = str.maketrans({emoji: f" {word} " for emoji, word in _WEAPONS.items()})


def normalise(text: str) -> str:
    """Return the text as models read it: NFKC, no invisible characters, placeholders for people and links, short runs.

    Look-alikes, spaced-out letters and digits within words are resolved where they can mean nothing else. Case, accents
    and emoji stay. The result may be empty.
    """
    plain = unicodedata.normalize("NFKC", without_invisible(clean(html.unescape(text))))
    plain = _WORD.sub(lambda word: latin(word.group()), _URL.sub(LINK, plain))
    plain = joined(_MENTION.sub(SOMEONE, undisguised(plain)))
    plain = _PLAIN_LEET.sub(lambda run: run.group().translate(_LEET_LETTERS), plain)
    return " ".join(shortened(_AGAIN.sub(f"{SOMEONE} ", plain)).split())


def spelled_out(text: str) -> str:
    """Return the text with its emoji and other symbols as their names in Unicode, for models that don't know them."""
    if text.isascii():
        return text
    return " ".join("".join(map(_named, text)).split())


def _named(char: str) -> str:
    if char in "\ufe0f\u200d":
        return " "
    if char >= _FIRST_SYMBOL and unicodedata.category(char) in ("So", "Sk"):
        return f" {_MODIFIER.sub('', unicodedata.name(char, '')).lower()} "
    return char


def without_invisible(text: str) -> str:
    """Drop format characters (zero-width, bidi controls, tags); joiners inside an emoji stay."""
    if text.isascii():
        return text
    return "".join(
        char
        for place, char in enumerate(text)
        if unicodedata.category(char) != "Cf" or (char == "\u200d" and _is_emoji(text[place - 1 : place]))
    )


def _is_emoji(char: str) -> bool:
    return char == "\ufe0f" or (char != "" and unicodedata.category(char) in ("So", "Sk"))


def shortened(text: str) -> str:
    """Cut runs of one letter to two and runs of one sign to three; digits stay."""
    return _LONG_SIGNS.sub(r"\1\1\1", _LONG_LETTERS.sub(r"\1\1", text))


def fold_disguised(text: str) -> str:
    """Return the text as rules match it: lower case, no accents, look-alikes, leet or spaced-out letters resolved.

    Emoji of weapons become the words they stand for. Drawn-out vowels become one, drawn-out consonants two
    ("diiie" -> "die", "killll" -> "kill").
    """
    plain = without_invisible(clean(html.unescape(text)))
    plain = unicodedata.normalize("NFKC", plain).casefold()
    plain = _WORD.sub(lambda word: latin(word.group()), without_accents(_URL.sub(" ", plain)))
    plain = _AND_EM.sub(" 'em", _MENTION.sub(SOMEONE, undisguised(plain)).replace("’", "'"))
    plain = joined(plain).translate(_WEAPON_WORDS)
    plain = _LEET.sub(lambda run: run.group().translate(_LEET_LETTERS), plain)
    return " ".join(shortened(_LONG_VOWELS.sub(r"\1", plain)).split())


def joined(text: str) -> str:
    """Join three or more single letters that are spaced out by the same sign or blank: "k i l l" -> "kill"."""
    return _SPACED_OUT.sub(lambda run: run.group().replace(run.group(1), ""), text)


def without_accents(text: str) -> str:
    """Drop combining marks: "matón" -> "maton"."""
    if text.isascii():
        return text
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
