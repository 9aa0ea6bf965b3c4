"""Mask what identifies or reaches somebody in a text: links, e-mail addresses, handles, telephone numbers."""

from __future__ import annotations

import re
from functools import lru_cache

from linkify_it import LinkifyIt

_HANDLE = re.compile(r"(?<![\w@])@\w[\w.-]*")
_NUMBER = re.compile(r"(?<![\w.])\+?\d(?:[ ()/.-]{0,2}\d){7,}(?!\w)")


def masked(text: str) -> str:
    """Return the text with placeholders; names written as words stay, since they can't be found reliably."""
    for link in reversed(_links().match(text) or ()):
        placeholder = "[address]" if link.schema == "mailto:" else "[link]"
        text = f"{text[: link.index]}{placeholder}{text[link.last_index :]}"
    return _NUMBER.sub("[number]", _HANDLE.sub("@user", text))


@lru_cache(maxsize=1)
def _links() -> LinkifyIt:
    return LinkifyIt()
