"""Parse what somebody typed after `/rejoinder`.

Slack marks up people, channels and links in the text and escapes three characters, because the manifest requests it
(https://docs.slack.dev/interactivity/implementing-slash-commands): `<@U012|ana>`, `<#C012|desk>`,
`<https://example.org|words>`, `&amp;`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from html import unescape
from typing import TypeVar

from bot.translation import _
from core.errors import BadInput

E = TypeVar("E", bound=StrEnum)

NAMED = ("group", "intent", "language", "hours", "for", "by")
_OPTION = re.compile(rf"({'|'.join(NAMED)}):(\S+)\s*")
_PERSON = re.compile(r"<@([UW][A-Z0-9]+)(?:\|([^>]*))?>")
_CHANNEL = re.compile(r"<#[CG][A-Z0-9]+(?:\|([^>]*))?>")
_LINK = re.compile(r"<([^>|]+)(?:\|[^>]*)?>")


@dataclass(frozen=True)
class CommandText:
    """A command: its name, its options (`group:muslims`), and the remaining arguments as they were typed.

    `person` is the id and name of the first person mentioned.
    """

    name: str
    options: Mapping[str, str]
    arguments: str
    person: tuple[str, str] | None

    def word(self) -> str:
        """Return the first word of the arguments in lower case, or an empty text."""
        return self.arguments.split(maxsplit=1)[0].lower() if self.arguments else ""

    def first_and_rest(self) -> tuple[str, str]:
        """Return the first argument, such as a case's number, and the text after it."""
        return _first_and_rest(self.arguments)

    def option(self, name: str, kind: type[E]) -> E | None:
        """Return an option as a member of `kind`. Raises BadInput if it is not one."""
        value = self.options.get(name)
        return None if value is None else one_of(kind, value)

    def hours(self) -> float | None:
        """Return the option `hours`. Raises BadInput if it is not a number."""
        value = self.options.get("hours")
        try:
            return None if value is None else float(value)
        except ValueError:
            raise BadInput(_("{option} is no number.", option=f"hours:{value[:20] if value else ''}")) from None


def parse(text: str) -> CommandText:
    """Parse the command in `text`; an empty one is `help`."""
    mention = _PERSON.search(text)
    person = (mention.group(1), mention.group(2) or "somebody") if mention else None
    name, rest = _first_and_rest(text)
    options: dict[str, str] = {}
    while option := _OPTION.match(rest):
        options[option.group(1)] = option.group(2)
        rest = rest[option.end() :]
    while option := re.search(rf"\s+{_OPTION.pattern}$", rest):
        options[option.group(1)] = option.group(2)
        rest = rest[: option.start()]
    return CommandText(name.lower() or "help", options, _as_typed(rest), person)


def one_of(kind: type[E], name: str) -> E:
    """Return the member of `kind` with this name. Raises BadInput with a list of all names."""
    try:
        return kind(name.lower())
    except ValueError:
        raise BadInput(
            _("There is no “{name}”; choose one of {names}.", name=name[:40], names=", ".join(kind))
        ) from None


def _first_and_rest(text: str) -> tuple[str, str]:
    """Return the first word and the text after it, possibly on the next line; empty if missing."""
    first, rest, *_ = (*text.split(maxsplit=1), "", "")
    return first, rest.strip()


def _as_typed(text: str) -> str:
    text = _PERSON.sub(lambda match: f"@{match.group(2) or match.group(1)}", text)
    text = _CHANNEL.sub(lambda match: f"#{match.group(1) or ''}", text)
    return unescape(_LINK.sub(lambda match: match.group(1), text)).strip()
