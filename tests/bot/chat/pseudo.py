"""A pseudo-language that puts every message of the catalogue in ⟦brackets⟧, to find texts that bypass translation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from gettext import NullTranslations
from typing import Any

import pytest

from bot.chat.defuse import JOINER
from bot.translation import speaking
from tests.bot.catalogues import messages_in_source

# Texts that are not translated: times and links that chats render themselves, names of commands, numbers.
_DATA = re.compile(r"<t:\d+:\w>|\(?https?://\S+|/rejoinder( [a-z-]+)*|\w+:\w+|\d+|UTC")


class Pseudo(NullTranslations):
    """Translations that put known messages in brackets and leave others unchanged, as every language does."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧" if message in _known() else message

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        form = msgid1 if n == 1 else msgid2
        return f"⟦{form}⟧" if (msgid1, msgid2) in messages_in_source() else form


@contextmanager
def speaking_pseudo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched, speaking("es"):
        patched.setattr("bot.translation.translations", lambda _: Pseudo())
        yield


def untranslated(texts: Iterable[str], *data: str) -> list[str]:
    """Return the texts that have words outside brackets, apart from those in `data`."""
    return [text for text in texts if re.search(r"[^\W\d_]{2,}", _outside(text.replace("\\", ""), data))]


def modal_texts(value: Any) -> list[str]:
    """Return the texts that users see in the payload of a component, form or command."""
    if isinstance(value, list):
        return [text for item in value for text in modal_texts(item)]
    if not isinstance(value, dict):
        return []
    own = [value[name] for name in ("title", "label", "description", "placeholder") if isinstance(value.get(name), str)]
    return own + [text for item in value.values() for text in modal_texts(item)]


def _known() -> set[str]:
    return {form for message in messages_in_source() for form in (message if isinstance(message, tuple) else [message])}


def _outside(text: str, data: Iterable[str]) -> str:
    kept, depth = [], 0
    for letter in _DATA.sub("", _without(text, data)):
        depth += {"⟦": 1, "⟧": -1}.get(letter, 0)
        if depth == 0 and letter != "⟧":
            kept.append(letter)
    return "".join(kept)


def _without(text: str, data: Iterable[str]) -> str:
    text = text.replace(JOINER, "")
    for item in sorted(data, key=len, reverse=True):
        text = text.replace(item.replace(JOINER, ""), "") if item else text
    return text
