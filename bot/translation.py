"""Translation for moderators: messages from the catalogues, dates and numbers in local form.

English messages are in the source, marked by `_`, `ngettext` or `N_`; their translations are in
`bot/locales/<language>/LC_MESSAGES`. A placeholder is written `{name}`. The current language is a context variable, so
that each request, and each press in a chat, is answered in its own language.
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
"""The languages on offer, each with its own name."""

_language: ContextVar[str] = ContextVar("language", default=SOURCE_LANGUAGE)
K = TypeVar("K")


class Wordings(Mapping[K, str]):
    """A mapping of messages marked by `N_`; reading a value translates it into the current language."""

    def __init__(self, messages: Mapping[K, str]) -> None:
        self._messages = messages

    def __getitem__(self, key: K) -> str:
        return _(self._messages[key])

    def __iter__(self) -> Iterator[K]:
        return iter(self._messages)

    def __len__(self) -> int:
        return len(self._messages)


def N_(message: str) -> str:
    """Mark a message for the catalogue without translating it yet."""
    return message


def _(message: str, /, **values: object) -> str:
    """Return a message in the current language with its placeholders filled; numbers are formatted locally."""
    return _filled(translations(_language.get()).gettext(message), values)


def ngettext(one: str, many: str, n: int, /, **values: object) -> str:
    """Return the singular or plural message for `n`, which fills the placeholder `{n}`."""
    return _filled(translations(_language.get()).ngettext(one, many, n), {"n": n, **values})


def language() -> str:
    """Return the code of the current language, a key of LANGUAGES."""
    return _language.get()


@contextmanager
def speaking(chosen: str) -> Iterator[None]:
    """Set the current language for the body."""
    token = _language.set(chosen)
    try:
        yield
    finally:
        _language.reset(token)


def offered(wish: str | None) -> str | None:
    """Return the language on offer for a tag such as `es-MX` or `es_MX`, or None."""
    first = re.split("[-_]", (wish or "").strip().lower())[0]
    return first if first in LANGUAGES else None


def accepted(header: str) -> str | None:
    """Return the language on offer that an `Accept-Language` header prefers (RFC 9110, 12.5.4), or None."""
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
    """Return a date and time to the minute, in the time zone of `at`."""
    if language() == SOURCE_LANGUAGE:
        return f"{at:%Y-%m-%d %H:%M}"
    return dates.format_datetime(at, "short", tzinfo=at.tzinfo, locale=_locale(language()))


def day(at: datetime) -> str:
    """Return a date."""
    if language() == SOURCE_LANGUAGE:
        return f"{at:%Y-%m-%d}"
    return dates.format_date(at, "short", locale=_locale(language()))


def language_name(code: str) -> str:
    """Return a language's name in the current language, such as `Spanish` for `es`; an unknown code stays as it is."""
    return str(_locale(language()).languages.get(code, code))


@cache
def translations(name: str) -> NullTranslations:
    """Return the compiled messages of a language; English messages are in the source."""
    if name == SOURCE_LANGUAGE:
        return NullTranslations()
    compiled = BytesIO()
    write_mo(compiled, catalogue(name))
    compiled.seek(0)
    return GNUTranslations(compiled)


@cache
def catalogue(name: str) -> Catalog:
    """Return the catalogue file of a language."""
    with (LOCALES / name / "LC_MESSAGES" / f"{DOMAIN}.po").open("rb") as file:
        return read_po(file, locale=name, domain=DOMAIN)


@cache
def script_messages(name: str) -> Mapping[str, str | list[str]]:
    """Return English message -> translation for the page's scripts; a message with a plural has both forms."""
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
    """Return a value as shown in a sentence; numbers are formatted as counts, so pass case numbers as text."""
    return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


@cache
def _locale(name: str) -> Locale:
    return Locale.parse(name)
