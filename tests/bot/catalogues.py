"""The messages in the source, as `make messages` finds them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.frontend import parse_mapping_cfg

BOT = Path(__file__).parents[2] / "bot"
Message = str | tuple[str, ...]


@cache
def messages_in_source() -> dict[Message, set[str]]:
    """Return every message, with the files that contain it."""
    with (BOT / "locales" / "babel.cfg").open() as config:
        methods, options = parse_mapping_cfg(config)  # type: ignore[no-untyped-call]
    keywords = {**DEFAULT_KEYWORDS, "t": None, "tn": (1, 2)}
    found: dict[Message, set[str]] = {}
    for file, _line, message, _comments, _context in extract_from_dir(BOT, methods, options, keywords):
        found.setdefault(message, set()).add(file)
    return found
