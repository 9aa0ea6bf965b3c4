from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.chat.intents import chooser, narrowest
from bot.chat.place import Place
from bot.intent_scopes import scope
from core.domain import Intent, TargetGroup
from core.errors import BadInput
from core.settings import ChatWorkspace
from ledger import Ledger
from ledger.moderator_settings import ScopeKind, SetIntent
from tests.bot.samples import post, triage_of

K, I = ScopeKind, Intent  # noqa: E741
START = datetime(2026, 11, 1, tzinfo=UTC)
SHOWN = [Place("discord", "s1", "c1")]


def wish(kind: ScopeKind, name: str, intent: Intent, *, server: str = "s1", minutes: int = 0) -> SetIntent:
    return SetIntent("discord", server, kind, name, intent, "lea", START + timedelta(minutes=minutes))


ALL = [
    wish(K.SERVER, "", I.INFORMATIVE),
    wish(K.CHANNEL, "c1", I.QUESTIONING),
    wish(K.LANGUAGE, "en", I.DENOUNCING),
    wish(K.GROUP, "migrants", I.POSITIVE),
]


@pytest.mark.parametrize(
    ("known", "intent"), [(1, I.INFORMATIVE), (2, I.QUESTIONING), (3, I.DENOUNCING), (4, I.POSITIVE)]
)
def test_the_narrowest_scope_wins(known: int, intent: Intent) -> None:
    winner = narrowest(ALL[:known], post(1), triage_of(), SHOWN)
    assert winner is not None
    assert winner.intent is intent


def test_of_two_groups_the_surer_one_counts() -> None:
    two = [wish(K.GROUP, "people_of_colour", I.QUESTIONING, minutes=9), wish(K.GROUP, "migrants", I.POSITIVE)]
    winner = narrowest(two, post(1), triage_of(TargetGroup.MIGRANTS), SHOWN)
    assert winner is not None
    assert winner.intent is I.POSITIVE


def test_of_two_servers_the_one_set_last_counts_and_a_server_that_does_not_show_the_case_does_not() -> None:
    two = [wish(K.SERVER, "", I.QUESTIONING, server="s2", minutes=1), ALL[0]]
    winner = narrowest(two, post(1), triage_of(), [*SHOWN, Place("discord", "s2", "c9")])
    assert winner is not None
    assert winner.intent is I.QUESTIONING
    winner = narrowest(two, post(1), triage_of(), SHOWN)
    assert winner is not None
    assert winner.intent is I.INFORMATIVE
    assert narrowest(two[:1], post(1), triage_of(), SHOWN) is None


def test_channels_whose_ids_differ_by_case_alone_have_intents_of_their_own() -> None:
    known = [wish(K.CHANNEL, "C1", I.QUESTIONING), wish(K.CHANNEL, "c1", I.POSITIVE)]
    for channel, intent in (("C1", I.QUESTIONING), ("c1", I.POSITIVE)):
        winner = narrowest(known, post(1), triage_of(), [Place("discord", "s1", channel)])
        assert winner is not None
        assert winner.intent is intent


async def test_a_new_case_gets_the_intent_that_a_lead_set(ledger: Ledger) -> None:
    choose = chooser(ledger, {"discord": {"s1": ChatWorkspace(channel="c1")}, "slack": {}})
    assert await choose(post(1), triage_of()) is None
    await ledger.moderator_settings.set_intent("discord", "s1", K.GROUP, "migrants", I.POSITIVE, "lea")
    assert await choose(post(1), triage_of()) is I.POSITIVE
    assert await choose(post(1), triage_of(TargetGroup.JEWS)) is None
    await ledger.moderator_settings.set_intent("discord", "s1", K.GROUP, "migrants", None, "lea")
    assert await choose(post(1), triage_of()) is None
    assert await chooser(ledger, {})(post(1), triage_of()) is None


def test_a_scope_is_checked() -> None:
    assert scope(K.GROUP, " Muslims ") == "muslims"
    assert scope(K.SERVER, "anything") == ""
    assert scope(K.LANGUAGE, "ES") == "es"
    assert scope(K.CHANNEL, " C" + "c" * 254) == "C" + "c" * 254
    for kind, name in ((K.GROUP, "martians"), (K.LANGUAGE, "klingon"), (K.LANGUAGE, ""), (K.CHANNEL, "c" * 256)):
        with pytest.raises(BadInput):
            scope(kind, name)
