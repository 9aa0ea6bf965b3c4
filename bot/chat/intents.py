"""Which intent a draft gets: the one set for the narrowest scope a case falls into.

Narrowest first: a target group (the surest one that has an intent), the post's language, the channel that gets the
case, its server. Between servers the narrower scope wins, then the one set last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bot.chat.place import Place
from bot.chat.routing import language_of, places
from core.domain import FlaggedPost, Intent, TargetGroup, Triage
from core.errors import BadInput
from core.settings import MAX_ROOM_ID, ChatWorkspace
from ledger import Ledger
from ledger.moderator_settings import ScopeKind, SetIntent
from stream.stages import ChooseIntent

_ORDER = tuple(ScopeKind)


def narrowest(
    known: Iterable[SetIntent], post: FlaggedPost, triage: Triage | None, shown: Iterable[Place]
) -> SetIntent | None:
    """Return the intent that holds for a case shown at some places; None when none is set for it."""
    channels = {(place.surface, place.server): place.channel for place in shown}
    groups = [item.group.value for item in triage.groups] if triage else []
    language = language_of(post, triage)
    fitting = [
        (_ORDER.index(item.kind), rank, -item.at.timestamp(), item)
        for item in known
        if (rank := _rank(item, groups, language, channels.get((item.surface, item.server)))) is not None
    ]
    return min(fitting, key=lambda ranked: ranked[:3])[3] if fitting else None


def chooser(ledger: Ledger, surfaces: Mapping[str, Mapping[str, ChatWorkspace]]) -> ChooseIntent:
    """Return a function that finds the intent of a new case's draft; `surfaces` holds each chat's servers."""

    async def choose(post: FlaggedPost, triage: Triage) -> Intent | None:
        shown = [place for name, servers in surfaces.items() for place in places(name, servers, post, triage)]
        setting = narrowest(await ledger.moderator_settings.intents(), post, triage, shown) if shown else None
        return setting.intent if setting else None

    return choose


def named_scope(named: Mapping[ScopeKind, str]) -> tuple[ScopeKind, str]:
    """Return the scope that somebody named, the whole server when they named none; raises BadInput for several."""
    if len(named) > 1:
        raise BadInput(f"Name one of {', '.join(named)}; each has an intent of its own.")
    return next(iter(named.items()), (ScopeKind.SERVER, ""))


def scope(kind: ScopeKind, name: str) -> str:
    """Return a scope's name as it is stored; raises BadInput when there can be no such group, language or channel.

    Ids of channels stay as they are: where they differ by case alone they are different channels.
    """
    name = name.strip()
    if kind is ScopeKind.SERVER:
        return ""
    if kind is ScopeKind.CHANNEL:
        if len(name) > MAX_ROOM_ID:
            raise BadInput(f"{name[:40]}… is no channel id: it has more than {MAX_ROOM_ID} characters.")
        return name
    name = name.lower()
    if kind is ScopeKind.GROUP and name not in tuple(TargetGroup):
        raise BadInput(f"There is no target group {name[:40]!r}; the groups are {', '.join(TargetGroup)}.")
    if kind is ScopeKind.LANGUAGE and not (name.isascii() and name.isalpha() and 2 <= len(name) <= 3):
        raise BadInput(f"{name[:40]!r} is no language code; use ISO 639-1, for example en or es.")
    return name


def _rank(item: SetIntent, groups: Sequence[str], language: str, channel: str | None) -> int | None:
    """Return how well an intent fits a case, 0 best, whose channel on the intent's server is `channel`; None if not."""
    if channel is None:
        return None
    match item.kind:
        case ScopeKind.GROUP:
            return groups.index(item.scope) if item.scope in groups else None
        case ScopeKind.LANGUAGE:
            return 0 if item.scope == language else None
        case ScopeKind.CHANNEL:
            return 0 if item.scope == channel else None
        case ScopeKind.SERVER:
            return 0
