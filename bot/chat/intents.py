"""Which intent a draft gets: the one set for the narrowest scope that includes the case.

From narrowest to widest: a target group (the most probable one that has an intent), the post's language, the channel
that gets the case, its server. Intents set on the page apply to every case, as if it were one more server. Between
servers the narrower scope wins, then the intent set last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bot.chat.place import Place
from bot.chat.routing import language_of, places
from bot.intent_scopes import DESK
from core.domain import FlaggedPost, Intent, Triage
from core.settings import ChatWorkspace
from ledger import Ledger
from ledger.moderator_settings import ScopeKind, SetIntent
from stream.stages import ChooseIntent

_ORDER = tuple(ScopeKind)


def narrowest(
    known: Iterable[SetIntent], post: FlaggedPost, triage: Triage | None, shown: Iterable[Place]
) -> SetIntent | None:
    """Return the intent that applies to a case shown in some places, or None if none is set for it."""
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
    """Return a function that finds the intent for a new case's draft; `surfaces` has each chat's servers."""

    async def choose(post: FlaggedPost, triage: Triage) -> Intent | None:
        in_chats = [place for name, servers in surfaces.items() for place in places(name, servers, post, triage)]
        shown = [Place(DESK, DESK, ""), *in_chats]
        setting = narrowest(await ledger.moderator_settings.intents(), post, triage, shown)
        return setting.intent if setting else None

    return choose


def _rank(item: SetIntent, groups: Sequence[str], language: str, channel: str | None) -> int | None:
    """Return how well an intent fits a case, 0 best, None if not; `channel` gets the case on the intent's server."""
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
