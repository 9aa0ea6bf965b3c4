"""A server's settings as lines of text: the scopes of intents, the rules for channels, what is paused or muted."""

from __future__ import annotations

from datetime import datetime

from bot.translation import N_, Wordings, _, moment
from core.settings import ChannelRule
from ledger.moderator_settings import ScopeKind, Switch, SwitchKind

_SCOPES = Wordings(
    {
        ScopeKind.GROUP: N_("Group {name}"),
        ScopeKind.LANGUAGE: N_("Language {name}"),
        ScopeKind.CHANNEL: N_("Channel {name}"),
        ScopeKind.SERVER: N_("Everywhere on this server"),
    }
)
_SWITCHED = Wordings(
    {
        SwitchKind.PAUSED: N_("Paused: {name}, by {who}."),
        SwitchKind.MUTED: N_("Muted: {name}, by {who}."),
    }
)
_SWITCHED_UNTIL = Wordings(
    {
        SwitchKind.PAUSED: N_("Paused: {name} until {time}, by {who}."),
        SwitchKind.MUTED: N_("Muted: {name} until {time}, by {who}."),
    }
)


def scope_line(kind: ScopeKind, name: str) -> str:
    """Return the name of an intent's scope."""
    return _SCOPES[kind].format(name=name)


def criteria(rule: ChannelRule) -> str:
    """Return the cases that a rule matches, in words."""
    return ", ".join((*rule.groups, *rule.languages, *rule.platforms)) or _("all cases")


def switch_line(switch: Switch) -> str:
    """Return what is paused or muted, by whom and until when."""
    words = {"name": switch.scope, "who": switch.who}
    if switch.until is None:
        return _SWITCHED[switch.kind].format(**words)
    return _SWITCHED_UNTIL[switch.kind].format(**words, time=utc(switch.until))


def utc(at: datetime) -> str:
    """Return a UTC moment, written in the current language."""
    return f"{moment(at)} UTC"
