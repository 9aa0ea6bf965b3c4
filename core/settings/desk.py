"""Settings of the ledger and the web desk, including the callers' tokens."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, IPvAnyNetwork, SecretStr

from core.domain import Intent, Role
from core.settings.section import MOST_SECONDS, InterfaceLanguage, Seconds, Section


class LedgerSettings(Section):
    """Where the ledger's database is."""

    url: str | None = Field(
        None,
        description="SQLAlchemy URL of the database, `sqlite+aiosqlite:///file` or `postgresql+asyncpg://…`. Unset: "
        "`ledger.db` in the data folder.",
    )
    author_key: SecretStr | None = Field(
        None,
        description="Key that hashes author ids and chains the history, the same in every process. Required with "
        "PostgreSQL. Unset with SQLite: a key is created once and kept in the data folder.",
    )


class Token(Section):
    """One bearer token and the role of whoever sends it."""

    token: SecretStr = Field(description="The bearer token, at least 8 characters.", min_length=8)
    role: Role = Field(
        "reviewer",
        description="What the caller may do. `platform`: send flags; `monitor`: read the metrics; `reviewer`: "
        "decide; `lead`: also override checks and other people's claims; `admin`: everything.",
    )
    platforms: tuple[str, ...] = Field((), description="Platforms whose posts this token may flag. Empty: all.")


class DeskSettings(Section):
    """How the moderators' side behaves."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8080, ge=0, le=65535, description="Port to listen on. 0: any free port.")
    tokens: dict[str, Token] = Field(
        {},
        description='Who may call: name -> token and role, for example `{"ana": {"token": "…", "role": "lead"}}`. A '
        "`platform` token with `platforms` may flag only the posts of those platforms.",
    )
    trusted_proxies: tuple[IPvAnyNetwork, ...] = Field(
        (),
        description="Addresses or networks of the reverse proxies in front of gateway and desk, such as "
        "`10.0.0.0/8`. Only their headers are believed about who calls, and whether over TLS.",
    )
    proxy_header: Literal["X-Forwarded-For", "Forwarded"] = Field(
        "X-Forwarded-For",
        description="Header in which those proxies name the caller. With `X-Forwarded-For`, `X-Forwarded-Proto` says "
        "whether the call came over TLS.",
    )
    undo_s: Annotated[float, Field(ge=0, le=MOST_SECONDS)] = Field(
        15.0, description="Seconds in which a decision can be undone."
    )
    claim_s: Seconds = Field(600.0, description="Seconds after which a claim without a decision ends.")
    default_intent: Intent = Field(Intent.INFORMATIVE, description="Intent of the first draft of a case.")
    language: InterfaceLanguage = Field(
        "en",
        description="Language of the page and the chats for anyone who has chosen none, if their browser or chat "
        "names none of the four on offer: English, Spanish, Italian, Basque.",
    )
    platform_rules: dict[str, str] = Field(
        {}, description="Rules of each platform, in plain words, shown beside its cases: platform -> text."
    )
    confirm_covered: bool = Field(
        False, description="Ask for confirmation on the page before a draft is approved whose post was never uncovered."
    )
    record_uncovering: bool = Field(
        False, description="Record who uncovers which post on the page. Inform the moderators before you turn it on."
    )
