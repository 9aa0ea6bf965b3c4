"""Authentication over HTTP: bearer tokens, each with a name and a role, shared by the gateway and the desk."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from core.domain import Role
from core.errors import TooManyRequests
from core.settings import Token
from core.throttle import Throttle


@dataclass(frozen=True)
class Caller:
    """A caller whose token was recognised; empty `platforms` means that they may flag posts of any platform."""

    name: str
    role: Role
    platforms: tuple[str, ...] = ()


class TokenTable:
    """The known bearer tokens. Each is compared in constant time, so that timing reveals nothing.

    Wrong tokens are counted per address; too many of them raise TooManyRequests.
    """

    def __init__(self, tokens: Mapping[str, Token], throttle: Throttle | None = None) -> None:
        self._secrets = {
            Caller(name, token.role, token.platforms): token.token.get_secret_value() for name, token in tokens.items()
        }
        self._throttle = throttle or Throttle()

    def caller(self, authorization: str | None, address: str) -> Caller | None:
        """Return who sent this `Authorization` header (RFC 6750, `Bearer …`), or None. Raises TooManyRequests."""
        scheme, _, token = (authorization or "").partition(" ")
        return self.bearer(token.strip(), address) if scheme.lower() == "bearer" else None

    def bearer(self, token: str, address: str) -> Caller | None:
        """Return whose token this is, or None. Raises TooManyRequests."""
        offered = token.encode(errors="replace")
        callers = [caller for caller, secret in self._secrets.items() if hmac.compare_digest(secret.encode(), offered)]
        caller = callers[0] if callers else None
        wait_s = self._throttle.wait_s(address, caller.name if caller else None)
        if wait_s > 0:
            raise TooManyRequests("Too many wrong tokens came from your address", wait_s)
        if caller is None:
            self._throttle.failed(address)
        else:
            self._throttle.succeeded(address, caller.name)
        return caller

    def named(self, name: str) -> tuple[Caller, str] | None:
        """Return the caller with this name and their token, or None; used to verify what was signed with the token."""
        return next(((caller, secret) for caller, secret in self._secrets.items() if caller.name == name), None)
