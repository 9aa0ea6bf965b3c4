"""Take the effect out of hostile text before a chat platform shows it: no ping, no link, no disguise.

What is left reads the same. Markup is the platform's own and is escaped where the text is rendered for it.
"""

from __future__ import annotations

import re
import unicodedata

JOINER = "\N{WORD JOINER}"
"""Invisible, without width; after `@`, `<`, `#` or the colon of `://` it keeps a chat from making a mention or link.

Not behind `://`: a browser passes over it in a host name (Unicode TS 46), so that the link would still work.
"""
ELLIPSIS = "…"

# Bidirectional overrides disguise what a text says; zero-width spaces and the byte order mark hide words in it.
_DISGUISE = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad\U000e0000-\U000e007f]")
_LIVE = re.compile(r"[@#<]|:(?=//)|(?<=\w)\.(?=[^\W\d_]{2})|\b(?:mailto|tel|skype):", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n\s*\n\s*\n+")
_MAX_MARKS = 3


def defuse(text: str, limit: int) -> str:
    """Return `text` without effect, at most `limit` characters, cut with an ellipsis."""
    calm = _fewer_marks(_DISGUISE.sub("", text))
    calm = _BLANK_LINES.sub("\n\n", calm).strip()
    # Cut first: nothing behind the cut can matter, and a pattern can't be slow on what is short.
    return cut(_LIVE.sub(rf"\g<0>{JOINER}", calm[: limit + 1]), limit)


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of `text`; where some are left out, the last one is an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + ELLIPSIS


def web_address(url: str | None) -> str | None:
    """Return a link that may be shown as one: plain http or https without anything that ends markup, or None."""
    if url is None or not re.fullmatch(r"https?://[^\s<>|`\"'\\\[\]{}]{1,500}", url):
        return None
    return url.replace("(", "%28").replace(")", "%29")


def _fewer_marks(text: str) -> str:
    """Drop combining marks stacked beyond what any script needs: they run over the lines around them."""
    letters: list[str] = []
    marks = 0
    for letter in text:
        marks = marks + 1 if unicodedata.combining(letter) else 0
        if marks <= _MAX_MARKS:
            letters.append(letter)
    return "".join(letters)
