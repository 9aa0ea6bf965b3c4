from __future__ import annotations

import pytest
from pydantic import SecretStr

from bot.sessions import LIFETIME_S, Sessions
from core.settings import Token
from core.tokens import Caller, TokenTable

NAME = "ana ü.b"


def table(token: str = "ana-secret-token") -> TokenTable:
    return TokenTable({NAME: Token(token=SecretStr(token), role="lead")})


def cookie(at: float = 1000.0) -> str:
    opened = Sessions(table(), lambda: at).open("ana-secret-token", "a")
    assert opened is not None
    return opened[1]


def test_a_session_says_who_it_is_and_holds_no_token() -> None:
    assert Sessions(table(), lambda: 2000.0).caller(cookie()) == Caller(NAME, "lead")
    assert "secret" not in cookie()


def test_a_session_survives_a_restart_but_not_a_changed_token() -> None:
    assert Sessions(table(), lambda: 1001.0).caller(cookie()) is not None
    assert Sessions(table("another-token"), lambda: 1001.0).caller(cookie()) is None


def test_a_session_ends() -> None:
    assert Sessions(table(), lambda: 1000.0 + LIFETIME_S).caller(cookie()) is None


@pytest.mark.parametrize("spoil", [
    lambda value: "", lambda value: "a.b", lambda value: "a.b.c", lambda value: value[:-1] + "é",
    lambda value: value.replace(".", "..", 1),
    lambda value: "Ym9i" + value[value.index(".") :], lambda value: value + "0",
    lambda value: ".".join([value.split(".")[0], "99999999999", value.split(".")[2]]),
])  # fmt: skip
def test_a_forged_session_is_nobodys(spoil: object) -> None:
    assert callable(spoil)
    assert Sessions(table(), lambda: 1001.0).caller(spoil(cookie())) is None


def test_a_wrong_token_opens_nothing() -> None:
    assert Sessions(table()).open("guess-guess", "a") is None


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Basic ana-secret-token", "Bearer \udcff", "Bearer ana"]
)
def test_a_header_without_a_known_token_is_nobodys(header: str | None) -> None:
    assert table().caller(header, "a") is None


def test_a_bearer_header_is_recognised_whatever_its_case() -> None:
    assert table().caller("bearer  ana-secret-token", "a") == Caller(NAME, "lead")
