"""What others on the machine, and the programs we start, get to see of ours."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from bot.discord.board import SURFACE as DISCORD
from bot.slack.board import SURFACE as SLACK
from core.child import Child
from core.environment import DOORS, child_environment
from core.secrets import kept_secret, without_passwords
from core.settings import DeskSettings, DiscordSettings, Settings, SlackSettings
from ledger import Ledger
from rejoinder.assembly import chat_workspaces

ENVIRONMENT_SHOWER = [sys.executable, "-c", "import os; print(*sorted(os.environ))"]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def test_a_child_inherits_no_secret_it_was_not_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_DESK__TOKENS", "{}")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "fictional")
    monkeypatch.setenv("LANGUAGE_SERVICE_KEY", "fictional")
    child = Child("shower", ENVIRONMENT_SHOWER, log_file=tmp_path / "log")
    await child.start()
    await child.wait()
    assert "PATH" in child.tail().split()
    secrets = {"REJOINDER_DESK__TOKENS", "AWS_SECRET_ACCESS_KEY", "LANGUAGE_SERVICE_KEY"}
    assert secrets.isdisjoint(child.tail().split())


def test_a_worker_gets_the_settings_but_no_key_to_a_door(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KAFKA__PREFIX", "DESK__TOKENS", "DISCORD__TOKEN_FILE", "SLACK__WORKSPACES__T1__BOT_TOKEN"):
        monkeypatch.setenv(f"REJOINDER_{name}", "x")
    ours = {name for name in child_environment("REJOINDER_", without=DOORS) if name.startswith("REJOINDER_")}
    assert "REJOINDER_KAFKA__PREFIX" in ours
    assert not any("TOKEN" in name for name in ours)


def secret_names(section: type[BaseModel], beginning: str) -> Iterator[str]:
    """Yield the environment names of the section's secrets, and of the files that hold them."""
    for name, field in section.model_fields.items():
        whole = f"{beginning}{name}".upper()
        if "SecretStr" in str(field.annotation) or name.endswith(("token_file", "secret_file")):
            yield whole
        parts: list[Any] = [field.annotation, *get_args(field.annotation)]
        for part in parts:
            if inspect.isclass(part) and issubclass(part, BaseModel):
                yield from secret_names(part, f"{whole}__")


def test_each_chat_keeps_its_secrets_behind_its_door() -> None:
    """A worker has no business in a chat: a new chat's tokens must be among DOORS."""
    sections: dict[str, type[BaseModel]] = {"discord": DiscordSettings, "slack": SlackSettings, "desk": DeskSettings}
    assert set(chat_workspaces(Settings())) == {SLACK, DISCORD} == sections.keys() - {"desk"}
    for name, section in sections.items():
        secrets = list(secret_names(section, f"REJOINDER_{name}__"))
        assert secrets
        assert [secret for secret in secrets if not secret.startswith(DOORS)] == []


async def test_ledger_logs_and_keys_are_their_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    kept_secret(folder / "author.key")
    child = Child("shower", ENVIRONMENT_SHOWER, log_file=folder / "logs" / "child.log")
    await child.start()
    await child.wait()
    ledger = await Ledger.open(f"sqlite+aiosqlite:///{folder / 'ledger.db'}", b"a key for tests")
    await ledger.migrate()
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"author.key", "child.log", "ledger.db", "ledger.db-wal"}
    assert {mode(path) for path in files} == {0o600}
    assert {mode(path) for path in (folder.parent, folder, folder / "logs")} == {0o700}
    await ledger.close()


async def test_a_ledger_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    file.touch(0o644)
    ledger = await Ledger.open(f"sqlite+aiosqlite:///{file}", b"a key for tests")
    await ledger.close()
    assert mode(file) == 0o600


@pytest.mark.parametrize(("address", "shown"), [
    ("postgresql+asyncpg://ana:fictional@db/rejoinder", "postgresql+asyncpg://***@db/rejoinder"),
    ("postgresql+asyncpg://ana:fic@tional@db/rejoinder", "postgresql+asyncpg://***@db/rejoinder"),
    ("postgresql+asyncpg://db/rejoinder?user=ana&password=fictional", "postgresql+asyncpg://db/rejoinder?user=ana&password=***"),
    ("https://h/x?api-key=fictional&v=1&sig=fictional2", "https://h/x?api-key=***&v=1&sig=***"),
    ("https://h/x?X-Amz-Signature=fictional@1", "https://h/x?X-Amz-Signature=***"),
    ("postgresql+asyncpg://ana:fic/tional@db/rejoinder", "postgresql+asyncpg://***@db/rejoinder"),
    ("postgresql+asyncpg://ana:fic@ti/onal@db/rejoinder", "postgresql+asyncpg://***@db/rejoinder"),
    ("https://forum.example/@ana/1?design=2", "https://forum.example/@ana/1?design=2"),
    ("http://127.0.0.1:8081/v1", "http://127.0.0.1:8081/v1"),
    ("sqlite+aiosqlite:////data/ledger.db", "sqlite+aiosqlite:////data/ledger.db"),
])  # fmt: skip
def test_an_address_is_shown_without_who_signs_in(address: str, shown: str) -> None:
    assert without_passwords(address) == shown
