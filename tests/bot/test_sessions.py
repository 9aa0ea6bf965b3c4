from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.sessions import LIFETIME_S, Login, Sessions
from core.settings import Token
from core.tokens import Caller, TokenTable
from ledger import Ledger
from tests.new_ledger import KEY, new_sqlite

NAME = "ana ü.b"
ANA = Caller(NAME, "lead")


class Clock:
    time = datetime(2026, 11, 22, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def ledger(tmp_path: Path, clock: Clock) -> AsyncIterator[Ledger]:
    ledger = await Ledger.open(new_sqlite(tmp_path), KEY, clock)
    yield ledger
    await ledger.close()


def table(token: str = "ana-secret-token") -> TokenTable:
    return TokenTable({NAME: Token(token=SecretStr(token), role="lead"), "ben": Token(token=SecretStr("ben-secret"))})


def sessions(ledger: Ledger, clock: Clock, token: str = "ana-secret-token") -> Sessions:
    """Return the sessions as a process that has just started sees them."""
    return Sessions(table(token), ledger.sessions, clock)


async def test_a_session_says_who_it_is_and_holds_no_token(ledger: Ledger, clock: Clock) -> None:
    cookie = await sessions(ledger, clock).open(ANA, "a browser")
    assert await sessions(ledger, clock).login(cookie) == Login(ANA, cookie.partition(".")[0])
    assert "secret" not in cookie


async def test_a_session_survives_a_restart_but_not_a_changed_token(ledger: Ledger, clock: Clock) -> None:
    cookie = await sessions(ledger, clock).open(ANA, "")
    assert await sessions(ledger, clock).login(cookie)
    assert await sessions(ledger, clock, "another-token").login(cookie) is None


async def test_a_session_ends_with_its_time_or_before(ledger: Ledger, clock: Clock) -> None:
    first, second = [await sessions(ledger, clock).open(ANA, "") for _ in range(2)]
    await sessions(ledger, clock).end(first.partition(".")[0])
    assert await sessions(ledger, clock).login(first) is None
    assert await sessions(ledger, clock).login(second)
    clock.time += timedelta(seconds=LIFETIME_S)
    assert await sessions(ledger, clock).login(second) is None
    assert await ledger.sessions.list() == []


@pytest.mark.parametrize("spoil", [
    lambda value: "", lambda value: "a.b", lambda value: "a.b.c", lambda value: value[:-1] + "é",
    lambda value: value.replace(".", "..", 1), lambda value: value + "0", lambda value: "\0" * 32 + value[32:],
    lambda value: "0" * 32 + value[32:], lambda value: value[:32], lambda value: value[:33],
])  # fmt: skip
async def test_a_forged_session_is_nobodys(ledger: Ledger, clock: Clock, spoil: object) -> None:
    assert callable(spoil)
    cookie = await sessions(ledger, clock).open(ANA, "")
    assert await sessions(ledger, clock).login(spoil(cookie)) is None


async def test_the_signature_of_one_session_opens_no_other(ledger: Ledger, clock: Clock) -> None:
    first, second = [await sessions(ledger, clock).open(caller, "") for caller in (ANA, Caller("ben", "reviewer"))]
    assert await sessions(ledger, clock).login(second[:32] + first[32:]) is None


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Basic ana-secret-token", "Bearer \udcff", "Bearer ana"]
)
def test_a_header_without_a_known_token_is_nobodys(header: str | None) -> None:
    assert table().caller(header, "a") is None


def test_a_bearer_header_is_recognised_whatever_its_case() -> None:
    assert table().caller("bearer  ana-secret-token", "a") == ANA
