"""`rejoinder kb crawl`, on a source of two documents that needs no network."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest.mock import create_autospec

import click
import pytest
from click.testing import CliRunner

import kb.sources
from core.errors import BadInput, BadSettings
from kb.sources import Reason, Refusal
from kb.sources.documents import ListedDocument, Parts
from rejoinder.commands.kb_crawl import crawl as command
from tests.kb.sources.shop import Shop


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def open_shop(name: str, contact: str = "") -> AsyncIterator[Shop]:
        yield Shop()

    monkeypatch.setattr(kb.sources, "open_source", open_shop)


def test_the_command_fetches_and_sums_up(shop: None, tmp_path: Path) -> None:
    arguments = ["un", "--groups", "women,jews", "--from", "2019", "--to", "2021", "--max", "9", "--out", str(tmp_path)]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    assert f"1 documents stored in {tmp_path}" in result.output
    assert "1  missing" in result.output
    assert "no document B" in result.output
    assert (tmp_path / "united_nations/A.pdf").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [(["--groups", "zorblaxians"], "--groups does not know zorblaxians"),
     (["--types", "poem"], "--types does not know"), (["--language", "xx"], "--language does not know xx"),
     (["--from", "2021", "--to", "2020"], "is after")],
)  # fmt: skip
def test_the_command_says_what_it_does_not_know(
    shop: None, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    result = CliRunner().invoke(command, ["un", *arguments, "--out", str(tmp_path)])
    assert complaint in str(result.exception)


@pytest.mark.parametrize("package", ["protego", "pymarc"])
def test_the_command_says_which_extra_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package or name.startswith("kb.sources")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    result = CliRunner().invoke(command, ["un", "--out", str(tmp_path)])
    assert isinstance(result.exception, BadSettings)
    assert "rejoinder[kb]" in str(result.exception)


def test_the_command_fails_when_everything_was_refused(
    shop: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(self: Shop, document: ListedDocument, parts: Parts) -> Refusal:
        return Refusal(Reason.CHALLENGE, "https://example.org", "a challenge")

    monkeypatch.setattr(Shop, "fetch", refuse)
    result = CliRunner().invoke(command, ["un", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "challenge page" in result.output


def test_the_command_sums_up_after_an_interruption(shop: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted = create_autospec(kb.sources.crawl, side_effect=KeyboardInterrupt)
    monkeypatch.setattr(kb.sources, "crawl", interrupted)
    result = CliRunner().invoke(command, ["un", "--out", str(tmp_path)])
    assert result.exit_code == 130
    assert "interrupted. Run the same command again to go on." in result.output


async def test_the_command_offers_the_sources_there_are_and_no_other_opens() -> None:
    (choice,) = (parameter.type for parameter in command.params if parameter.name == "source")
    assert isinstance(choice, click.Choice)
    assert tuple(choice.choices) == tuple(kb.sources.SOURCES)
    with pytest.raises(BadInput, match="choose one of un, eurlex, fra"):
        async with kb.sources.open_source("who"):
            pass
