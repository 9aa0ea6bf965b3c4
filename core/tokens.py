"""Who may call over HTTP: bearer tokens, each with a name and a role. The gateway and the desk share this table."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from core.domain import Role
from core.settings import Token


@dataclass(frozen=True)
class Caller:
    """Somebody whose token was recognised."""

    name: str
    role: Role


class TokenTable:
    """The known bearer tokens. Every one is compared, in constant time, so that timing tells nothing."""

    def __init__(self, tokens: Mapping[str, Token]) -> None:
        self._secrets = {Caller(name, token.role): token.token.get_secret_value() for name, token in tokens.items()}

    def caller(self, authorization: str | None) -> Caller | None:
        """Return who sent this `Authorization` header (RFC 6750, `Bearer …`), or None."""
        scheme, _, token = (authorization or "").partition(" ")
        return self.bearer(token.strip()) if scheme.lower() == "bearer" else None

    def bearer(self, token: str) -> Caller | None:
        """Return whose token this is, or None."""
        offered = token.encode(errors="replace")
        callers = [caller for caller, secret in self._secrets.items() if hmac.compare_digest(secret.encode(), offered)]
        return callers[0] if callers else None

    def named(self, name: str) -> tuple[Caller, str] | None:
        """Return the caller of this name and the token, or None; for checking what was signed with the token."""
        return next(((caller, secret) for caller, secret in self._secrets.items() if caller.name == name), None)
