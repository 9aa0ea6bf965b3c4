"""The ledger and the web desk: where moderators decide, and with which token."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, IPvAnyNetwork, SecretStr

from core.domain import Intent, Role
from core.settings.section import InterfaceLanguage, Positive, Section


class LedgerSettings(Section):
    """Where the ledger's database is."""

    url: str | None = Field(
        None,
        description="SQLAlchemy URL, `sqlite+aiosqlite:///file` or "
        "`postgresql+asyncpg://…`; unset: `ledger.db` in the data folder.",
    )
    author_key: SecretStr | None = Field(
        None,
        description="Key for hashing author ids and chaining the history, the same in every process; needed unless the "
        "ledger is SQLite, for which it is made once and kept in the data folder.",
    )


class Token(Section):
    """One bearer token and the role of whoever sends it."""

    token: SecretStr = Field(description="The bearer token, at least 8 characters.", min_length=8)
    role: Role = Field(
        "reviewer",
        description="`platform` may send flags; `monitor` may read the metrics; `reviewer` decides; `lead` also "
        "overrides checks and other people's claims; `admin` may do all.",
    )
    platforms: tuple[str, ...] = Field((), description="Platforms whose posts this token may flag; empty: all.")


class DeskSettings(Section):
    """How the moderators' side behaves."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8080, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    tokens: dict[str, Token] = Field(
        {},
        description='Who may call: name -> token and role, for example `{"ana": {"token": "…", "role": "lead"}}`; '
        "a `platform` with `platforms` may flag the posts of these alone.",
    )
    trusted_proxies: tuple[IPvAnyNetwork, ...] = Field(
        (),
        description="Addresses or networks of the reverse proxies before gateway and desk, `10.0.0.0/8`; who calls, "
        "and whether over TLS, is believed from them alone.",
    )
    proxy_header: Literal["X-Forwarded-For", "Forwarded"] = Field(
        "X-Forwarded-For",
        description="The header in which those proxies say who calls; with the first, `X-Forwarded-Proto` says how.",
    )
    undo_s: Annotated[float, Field(ge=0)] = Field(15.0, description="Seconds in which a decision can be undone.")
    claim_s: Positive = Field(600.0, description="Seconds a claim holds without a decision.")
    default_intent: Intent = Field(Intent.INFORMATIVE, description="Intent of a first draft.")
    language: InterfaceLanguage = Field(
        "en",
        description="Language of the page and the chats for whoever has chosen none and whose browser or chat names "
        "none that is offered: English, Spanish, Italian or Basque.",
    )
    platform_rules: dict[str, str] = Field(
        {}, description="The rules of each platform, shown beside its cases: platform -> text, in plain words."
    )
    confirm_covered: bool = Field(
        False, description="Ask once more on the page before a draft goes out whose post was never uncovered."
    )
    record_uncovering: bool = Field(
        False, description="Record who uncovers which post on the page; tell the moderators before you turn it on."
    )
