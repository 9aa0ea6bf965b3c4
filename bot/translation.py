"""What the moderators read, in their language: messages from the catalogue, dates and numbers as people write them.

The English words stand in the source, marked by `_`, `ngettext` or `N_`; `bot/locales/<language>/LC_MESSAGES` holds the
others. A place in a message is written `{name}`. The language of the moment is a context variable, so that each request
and each click of a chat is answered in its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from babel import Locale, dates, numbers
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

LOCALES = Path(__file__).parent / "locales"
DOMAIN = "rejoinder"
SOURCE_LANGUAGE = "en"
LANGUAGES: Mapping[str, str] = MappingProxyType(
    {"en": "English", "es": "Español", "it": "Italiano", "eu": "Euskara"},
)
"""The languages to choose from, each by its own name."""

_language: ContextVar[str] = ContextVar("language", default=SOURCE_LANGUAGE)
K = TypeVar("K")


class Wordings(Mapping[K, str]):
    """The words for each of some things, marked by `N_`; whoever reads one gets it in the language of the moment."""

    def __init__(self, messages: Mapping[K, str]) -> None:
        self._messages = messages

    def __getitem__(self, key: K) -> str:
        return _(self._messages[key])

    def __iter__(self) -> Iterator[K]:
        return iter(self._messages)

    def __len__(self) -> int:
        return len(self._messages)


def N_(message: str) -> str:
    """Mark a message for the catalogue, and leave it to be translated when it is read."""
    return message


def _(message: str, /, **values: object) -> str:
    """Return a message in the language of the moment, its places filled; a number is written as people write it."""
    return _filled(translations(_language.get()).gettext(message), values)


def ngettext(one: str, many: str, n: int, /, **values: object) -> str:
    """Return the message for `n` things; `{n}` in it is the number."""
    return _filled(translations(_language.get()).ngettext(one, many, n), {"n": n, **values})


def language() -> str:
    """Return the language of the moment, `en`, `es`, `it` or `eu`."""
    return _language.get()


@contextmanager
def speaking(chosen: str) -> Iterator[None]:
    """Let everything inside be said in this language."""
    token = _language.set(chosen)
    try:
        yield
    finally:
        _language.reset(token)


def offered(wish: str | None) -> str | None:
    """Return the language offered for a tag such as `es-MX` or `es_MX`; None where it is not offered."""
    first = re.split("[-_]", (wish or "").strip().lower())[0]
    return first if first in LANGUAGES else None


def accepted(header: str) -> str | None:
    """Return the language offered that an `Accept-Language` header likes best (RFC 9110, 12.5.4), or None."""
    wishes = []
    for part in header.split(","):
        tag, weight, *_rest = (*part.replace(" ", "").split(";q="), "")
        try:
            wishes.append((float(weight or 1), offered(tag)))
        except ValueError:
            continue
    liked = [(weight, tag) for weight, tag in wishes if tag and weight > 0]
    return max(liked, key=lambda wish: wish[0])[1] if liked else None


def percent(share: float) -> str:
    """Return a share from 0 to 1 in percent, for example `12 %`."""
    return _("{n} %", n=round(100 * share))


def number(value: float) -> str:
    """Return a number, with at most three decimals."""
    return numbers.format_decimal(value, locale=_locale(language()))


def moment(at: datetime) -> str:
    """Return a date and a time of day, to the minute, in the time zone that it comes in."""
    if language() == SOURCE_LANGUAGE:
        return f"{at:%Y-%m-%d %H:%M}"
    return dates.format_datetime(at, "short", tzinfo=at.tzinfo, locale=_locale(language()))


def day(at: datetime) -> str:
    """Return a date."""
    if language() == SOURCE_LANGUAGE:
        return f"{at:%Y-%m-%d}"
    return dates.format_date(at, "short", locale=_locale(language()))


def language_name(code: str) -> str:
    """Return what a language is called, `Spanish` for `es`; an unknown one by its code."""
    return str(_locale(language()).languages.get(code, code))


@cache
def translations(name: str) -> NullTranslations:
    """Return the messages of a language; the English ones are in the source."""
    if name == SOURCE_LANGUAGE:
        return NullTranslations()
    compiled = BytesIO()
    write_mo(compiled, catalogue(name))
    compiled.seek(0)
    return GNUTranslations(compiled)


@cache
def catalogue(name: str) -> Catalog:
    """Return the catalogue of a language as it is on file."""
    with (LOCALES / name / "LC_MESSAGES" / f"{DOMAIN}.po").open("rb") as file:
        return read_po(file, locale=name, domain=DOMAIN)


@cache
def script_messages(name: str) -> Mapping[str, str | list[str]]:
    """Return what the page's scripts say, by the English words; a message with a plural has both its forms."""
    if name == SOURCE_LANGUAGE:
        return {}
    of_scripts = [message for message in catalogue(name) if any(path.endswith(".js") for path, _ in message.locations)]
    return {
        message.id if isinstance(message.id, str) else message.id[0]:
        message.string if isinstance(message.string, str) else list(message.string or ())
        for message in of_scripts
    }  # fmt: skip


def _filled(message: str, values: Mapping[str, object]) -> str:
    if not values:
        return message
    return message.format(**{name: _shown(value) for name, value in values.items()})


def _shown(value: object) -> object:
    """Return a value as it stands in a sentence. The numbers of cases and the like are counts, never names."""
    return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


@cache
def _locale(name: str) -> Locale:
    return Locale.parse(name)
