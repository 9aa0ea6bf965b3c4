"""`rejoinder settings`: print the current settings, or their reference, `docs/settings.md`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from core.secrets import without_passwords
from core.settings import Settings
from rejoinder.commands.process import load_settings

HEAD = """# Settings

Made by `make settings` from `core/settings/`; a test compares the two.

If a setting is given in several places, the first of these wins: command-line flags, `REJOINDER_…` environment
variables (`__` nests), `rejoinder.toml` in the working folder, the defaults below. In `rejoinder.toml` a section is a
table: `REJOINDER_KAFKA__BOOTSTRAP` is `bootstrap` under `[kafka]`. Give secrets only through the environment, or in
the files that a `…_FILE` setting names.
"""


@click.command()
@click.option("--markdown", is_flag=True, help="Print the settings reference.")
def settings(markdown: bool) -> None:
    """Print every setting with its present value; secrets stay hidden, in addresses too."""
    click.echo(reference() if markdown else without_passwords(load_settings().model_dump_json(indent=2)))


def reference() -> str:
    """Return the settings reference as Markdown."""
    return "\n".join([HEAD, "## General\n", _table(Settings, "REJOINDER_"), *_sections(Settings, "", "REJOINDER_")])


def _sections(model: type[BaseModel], path: str, prefix: str) -> Iterator[str]:
    """Yield the heading and table of each section, followed by those of its subsections."""
    for name, field in model.model_fields.items():
        if section := _section(field):
            purpose = (section.__doc__ or "").splitlines()[0]
            inner = f"{prefix}{name.upper()}__"
            yield f"\n## {path}{name}\n\n{purpose}\n"
            yield _table(section, inner)
            yield from _sections(section, f"{path}{name}.", inner)


def _section(field: FieldInfo) -> type[BaseModel] | None:
    annotation = field.annotation
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _table(model: type[BaseModel], prefix: str) -> str:
    rows = ["| variable | default | what it is for |", "|---|---|---|"]
    rows += [f"| `{prefix}{name.upper()}` | {default} | {text} |" for name, default, text in _fields(model)]
    return "\n".join(rows)


def _fields(model: type[BaseModel]) -> Iterator[tuple[str, str, str]]:
    for name, field in model.model_fields.items():
        if not _section(field):
            yield name, _shown(field.default), (field.description or "").replace("|", "\\|")


def _shown(default: Any) -> str:
    if default is None or isinstance(default, SecretStr):
        return "unset"
    if isinstance(default, dict):
        return "`{" + ", ".join(f"{key}: {value}" for key, value in default.items()) + "}`" if default else "none"
    return f"`{getattr(default, 'value', default)}`" if default != "" else "empty"
