"""The documents say what is so: settings, commands, make targets, files."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from types import FunctionType

import click
import pytest

from rejoinder.cli import COMMANDS, main
from rejoinder.commands.settings import reference

REPO = Path(__file__).parents[2]
PAGES = sorted([*REPO.glob("*.md"), *(REPO / "docs").glob("*.md")])
NAMES = [str(page.relative_to(REPO)) for page in PAGES]


def everything() -> click.Group:
    """Return the command line with the project's own entry points, installed or not."""
    project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
    declared = project["entry-points"][COMMANDS].items()
    return click.Group(
        commands={**main.commands, **{name: EntryPoint(name, value, COMMANDS).load() for name, value in declared}}
    )


PROGRAM = everything()


def commands(group: click.Command, prefix: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    paths = {prefix} if prefix else set()
    if isinstance(group, click.Group):
        for name, command in group.commands.items():
            paths |= commands(command, (*prefix, name))
    return paths


def options(words: list[str]) -> set[str]:
    """Return the options of the command that `words` name."""
    command: click.Command = PROGRAM
    for word in words:
        if isinstance(command, click.Group) and word in command.commands:
            command = command.commands[word]
    return {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}


def test_the_settings_reference_is_what_the_settings_say() -> None:
    assert (REPO / "docs" / "settings.md").read_text() == reference() + "\n", "run: make settings"


def test_every_command_is_named_in_the_documents() -> None:
    text = "\n".join(page.read_text() for page in PAGES)
    missing = [" ".join(path) for path in commands(PROGRAM) if f"rejoinder {' '.join(path)}" not in text]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_in_the_documents_exist_with_their_options(page: Path) -> None:
    known = commands(PROGRAM) | {()}
    for line in re.findall(r"rejoinder ((?:[a-z-]+ ?)+[^`\n|]*)", code(page)):
        words = re.split(r"\s+", line.split("#")[0].strip())
        path = tuple(word for word in words[:2] if (word,) in known or tuple(words[:2]) in known)
        assert path, f"{page.name}: `rejoinder {line}` is no command"
        unknown = {word.split("=")[0] for word in words if word.startswith("--")} - options(words) - {"--help"}
        assert not unknown, f"{page.name}: `rejoinder {line}` has no {unknown}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_make_targets_in_the_documents_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (REPO / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z][a-z-]*)", code(page))) <= targets


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def snippets() -> list[tuple[str, str]]:
    block = re.compile(r"```python\n(.*?)```", re.DOTALL)
    return [(f"{page.name}-{at.start()}", at[1]) for page in PAGES for at in block.finditer(page.read_text())]


def test_there_are_snippets() -> None:
    assert snippets()


@pytest.mark.parametrize(("name", "text"), snippets(), ids=[name for name, _ in snippets()])
async def test_python_in_the_documents_runs(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = FunctionType(compile(text, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), {"__name__": name})
    if (waiting := run()) is not None:
        await waiting


def code(page: Path) -> str:
    """Return what a page shows as code: fenced, indented or between backquotes."""
    text = page.read_text()
    fenced = re.findall(r"```(?:sh|bash)?\n(.*?)```", text, re.DOTALL)
    indented = re.findall(r"^ {4}(.+)$", text, re.MULTILINE)
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return "\n".join([*fenced, *indented, *inline])
