"""Make hostile text harmless before a chat platform shows it: no ping, no link, no disguise.

The visible text stays the same. Markup differs between platforms and is escaped where the text is rendered.
"""

from __future__ import annotations

import re
import unicodedata

JOINER = "\N{WORD JOINER}"
"""An invisible character of zero width; after `@`, `<`, `#` or the colon of `://`, it stops a chat from making a
mention or link. It must not follow `://`: browsers ignore it in host names (Unicode TS 46), so the link would still
work."""
ELLIPSIS = "…"

# Bidirectional overrides disguise a text; zero-width spaces and the byte order mark hide words in it.
_DISGUISE = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad\U000e0000-\U000e007f]")
_LIVE = re.compile(r"[@#<]|:(?=//)|(?<=\w)\.(?=[^\W\d_]{2})|\b(?:mailto|tel|skype):", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n\s*\n\s*\n+")
_MAX_MARKS = 3


def defuse(text: str, limit: int) -> str:
    """Return `text` made harmless, at most `limit` characters; an ellipsis marks a cut."""
    calm = _fewer_marks(_DISGUISE.sub("", text))
    calm = _BLANK_LINES.sub("\n\n", calm).strip()
    # Cut first: what follows the cut is irrelevant, and patterns stay fast on short text.
    return cut(_LIVE.sub(rf"\g<0>{JOINER}", calm[: limit + 1]), limit)


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of `text`; if it is cut, the last one is an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + ELLIPSIS


def web_address(url: str | None) -> str | None:
    """Return a link that is safe to show (plain http or https, no characters that end markup), or None."""
    if url is None or not re.fullmatch(r"https?://[^\s<>|`\"'\\\[\]{}]{1,500}", url):
        return None
    return url.replace("(", "%28").replace(")", "%29")


def _fewer_marks(text: str) -> str:
    """Drop combining marks stacked higher than any script needs, because they cover neighbouring lines."""
    letters: list[str] = []
    marks = 0
    for letter in text:
        marks = marks + 1 if unicodedata.combining(letter) else 0
        if marks <= _MAX_MARKS:
            letters.append(letter)
    return "".join(letters)
