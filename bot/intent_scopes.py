"""The scopes for which an intent can be set, on the page and in the chats."""

from __future__ import annotations

from collections.abc import Mapping

from bot.translation import _
from core.domain import TargetGroup
from core.errors import BadInput
from core.settings import MAX_ROOM_ID
from ledger.moderator_settings import ScopeKind

DESK = "desk"
"""The surface and server of intents set on the page, which apply to every case."""


def named_scope(named: Mapping[ScopeKind, str]) -> tuple[ScopeKind, str]:
    """Return the scope that was named, by default the whole server. Raises BadInput if several were named."""
    if len(named) > 1:
        raise BadInput(_("Name one of {kinds}; each has an intent of its own.", kinds=", ".join(named)))
    return next(iter(named.items()), (ScopeKind.SERVER, ""))


def scope(kind: ScopeKind, name: str) -> str:
    """Return a scope's name as stored. Raises BadInput if no such group, language or channel can exist.

    Channel ids keep their letter case, because ids that differ only in case are different channels.
    """
    name = name.strip()
    if kind is ScopeKind.SERVER:
        return ""
    if kind is ScopeKind.CHANNEL:
        if len(name) > MAX_ROOM_ID:
            raise BadInput(
                _("{name}… is no channel id: it has more than {n} characters.", name=name[:40], n=MAX_ROOM_ID)
            )
        return name
    name = name.lower()
    if kind is ScopeKind.GROUP and name not in tuple(TargetGroup):
        raise BadInput(
            _(
                "There is no target group “{name}”; the groups are {groups}.",
                name=name[:40],
                groups=", ".join(TargetGroup),
            )
        )
    if kind is ScopeKind.LANGUAGE and not (name.isascii() and name.isalpha() and 2 <= len(name) <= 3):
        raise BadInput(_("“{name}” is no language code; use ISO 639-1, for example en or es.", name=name[:40]))
    return name
