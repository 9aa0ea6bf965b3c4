"""Commands that other packages add by entry point."""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

from rejoinder import cli

ROOT = Path(__file__).parents[2]


class InstalledPoints(list[EntryPoint]):
    """The entry points of made-up packages, selected as importlib.metadata does."""

    @property
    def names(self) -> set[str]:
        return {point.name for point in self}

    def select(self, *, group: str, name: str | None = None) -> InstalledPoints:
        return InstalledPoints(point for point in self if point.group == group and name in (None, point.name))


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install one package whose command works and four whose command does not."""

    @click.command()
    @click.option("--times", default=1)
    def sing(times: int) -> None:
        """Sing."""
        click.echo("la " * times)

    module = ModuleType("made_up_singer")
    module.__dict__.update(sing=sing, score="not a command")
    monkeypatch.setitem(sys.modules, "made_up_singer", module)
    values = {
        "sing": "made_up_singer:sing", "score": "made_up_singer:score", "mute": "made_up_singer:nothing",
        "gone": "no_such_package:command", "demo": "made_up_singer:sing",
    }  # fmt: skip
    points = InstalledPoints(EntryPoint(name, value, cli.COMMANDS) for name, value in values.items())
    monkeypatch.setattr(cli, "entry_points", points.select)


def test_a_command_of_another_package_runs() -> None:
    result = CliRunner().invoke(cli.main, ["sing", "--times", "2"])
    assert result.exit_code == 0 and result.output == "la la \n"


def test_help_lists_our_commands_theirs_and_what_is_broken() -> None:
    result = CliRunner().invoke(cli.main, ["--help"])
    assert result.exit_code == 0
    assert all(name in result.output for name in ("sing", "worker", "doctor", "gone"))
    assert "can't be loaded" in result.output


@pytest.mark.parametrize(
    ("name", "reason"),
    [("gone", "No module named 'no_such_package'"), ("mute", "nothing"), ("score", "is no click command")],
)
def test_a_command_that_cannot_be_loaded_says_why(name: str, reason: str) -> None:
    result = CliRunner().invoke(cli.main, [name, "--any", "thing"])
    assert result.exit_code == 1
    assert "can't be loaded" in result.output and reason in result.output and "Traceback" not in result.output


def test_a_broken_command_leaves_ours_alone() -> None:
    assert "smollm2-135m" in CliRunner().invoke(cli.main, ["models", "list"]).output


def test_ours_go_first() -> None:
    assert "sample posts" in CliRunner().invoke(cli.main, ["demo", "--help"]).output


def test_an_unknown_command_is_unknown() -> None:
    result = CliRunner().invoke(cli.main, ["dance"])
    assert result.exit_code == 2 and "No such command" in result.output


def test_the_projects_own_entry_points_are_commands() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name, value in project["entry-points"][cli.COMMANDS].items():
        command = EntryPoint(name, value, cli.COMMANDS).load()
        assert isinstance(command, click.Command) and command.name == name
        assert CliRunner().invoke(command, ["--help"]).exit_code == 0
