from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from pydantic import SecretStr

from core.errors import BadSettings
from core.secrets import given_secret
from rejoinder.cli import main

NAME = "REJOINDER_DISCORD__TOKEN"


def test_a_secret_comes_from_the_environment_or_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("  from-a-file\n")
    assert given_secret(SecretStr("given"), file, NAME) == "given"
    assert given_secret(None, file, NAME) == "from-a-file"
    assert given_secret(SecretStr(" "), file, NAME) == "from-a-file"


def test_a_missing_secret_is_told_in_plain_words(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=f"{NAME} is not set"):
        given_secret(None, None, NAME)
    with pytest.raises(BadSettings, match=f"{NAME}_FILE can't be read"):
        given_secret(None, tmp_path / "nothing", NAME)
    (tmp_path / "empty").touch()
    with pytest.raises(BadSettings, match="an empty file"):
        given_secret(None, tmp_path / "empty", NAME)


def test_the_bot_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    # It sets the levels of loggers for good, which other tests listen to.
    monkeypatch.setattr("rejoinder.commands.discord.start_logging", lambda settings: None)
    result = CliRunner().invoke(main, ["discord"])
    assert result.exit_code == 1
    assert f"{NAME} is not set" in result.output
    monkeypatch.setenv(NAME, "a-token")
    result = CliRunner().invoke(main, ["discord"])
    assert "docs/discord.md" in result.output
    assert "a-token" not in result.output
