"""Read the claims and facts on file: the shipped ones, and those of a folder of one's own."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

from pydantic import ValidationError

from core.domain import TargetGroup
from core.errors import KnowledgeBaseError, describe_errors
from kb.claims.records import FiledClaim, FiledFact, Speaker

Entry = TypeVar("Entry", FiledClaim, FiledFact)


@dataclass(frozen=True)
class FilePlace:
    """Where an entry is: a file and the line of its id, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class ClaimFiles:
    """All claims and facts by id, where they are in the files, and the speakers and regions that facts may name."""

    claims: Mapping[str, FiledClaim]
    facts: Mapping[str, FiledFact]
    speakers: Mapping[str, Speaker]
    places: Mapping[str, FilePlace]
    regions: frozenset[str]

    def group_of(self, claim: FiledClaim) -> TargetGroup:
        """Return the group in whose file a claim is."""
        return TargetGroup(group_named(self.places[claim.id].file))


NOTHING = ClaimFiles({}, {}, {}, {}, frozenset())


def load_claims(own: Traversable | None = None, *, shipped: Traversable | None = None) -> ClaimFiles:
    """Read `claims/*.toml` and `facts/*.toml` of the package, and also those of a folder of one's own.

    Raises KnowledgeBaseError naming file, line and field of the first entry that can't be read. The content of the
    entries is checked in `kb.claims.checking`. The package's files are read once per process.
    """
    base = _shipped() if shipped is None else _with(NOTHING, "kb", shipped)
    return _with(base, str(own), own) if own else base


@lru_cache(maxsize=1)
def _shipped() -> ClaimFiles:
    return _with(NOTHING, "kb", files("kb"))


def _with(base: ClaimFiles, name: str, root: Traversable) -> ClaimFiles:
    """Return `base` together with the files below `root`, which messages call `name`."""
    places, speakers = dict(base.places), dict(base.speakers)
    facts, claims, regions = dict(base.facts), dict(base.claims), set(base.regions)
    for file, text, tables in _tables(f"{name}/facts", root / "facts"):
        _add_speakers(speakers, file, text, tables.get("speakers", {}))
        regions |= _regions(file, text, tables.get("regions", []))
        facts |= _entries(FiledFact, file, text, tables.get("fact", []), places)
    for file, text, tables in _tables(f"{name}/claims", root / "claims"):
        if group_named(file) not in list(TargetGroup):
            groups = ", ".join(TargetGroup)
            raise KnowledgeBaseError(f"{file}: no target group has this name. Call it after one: {groups}.")
        claims |= _entries(FiledClaim, file, text, tables.get("claim", []), places)
    return ClaimFiles(claims, facts, speakers, places, frozenset(regions))


def group_named(file: str) -> str:
    """Return the name of the group that a file is about."""
    return file.rpartition("/")[2].removesuffix(".toml")


def _tables(name: str, folder: Traversable) -> Iterable[tuple[str, str, dict[str, Any]]]:
    entries = folder.iterdir() if folder.is_dir() else ()
    for entry in sorted((entry for entry in entries if entry.name.endswith(".toml")), key=lambda entry: entry.name):
        file = f"{name}/{entry.name}"
        try:
            text = entry.read_text(encoding="utf-8")
            yield file, text, tomllib.loads(text)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise KnowledgeBaseError(f"{file} is not readable TOML: {error}. Correct that place.") from error


def _entries(
    kind: type[Entry], file: str, text: str, rows: Iterable[object], places: dict[str, FilePlace]
) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for number, row in enumerate(rows, start=1):
        key = str(row.get("id", f"number {number}")) if isinstance(row, dict) else f"number {number}"
        place = FilePlace(file, _line(text, f'id = "{key}"'))
        try:
            entry = kind.model_validate(row)
        except ValidationError as error:
            raise KnowledgeBaseError(f"{place}: '{key}', {describe_errors(error)}. Correct it.") from error
        if entry.id in places:
            raise KnowledgeBaseError(f"{place}: '{key}' is already at {places[entry.id]}. Give one another id.")
        places[entry.id] = place
        entries[entry.id] = entry
    return entries


def _add_speakers(speakers: dict[str, Speaker], file: str, text: str, rows: Mapping[str, object]) -> None:
    for key, row in rows.items():
        speaker = _speaker(file, text, key, row)
        if speakers.setdefault(key, speaker) != speaker:
            place = _place_of_speaker(file, text, key)
            raise KnowledgeBaseError(f"{place}: speaker '{key}' has other names in another file. Keep one of the two.")


def _speaker(file: str, text: str, key: str, row: object) -> Speaker:
    try:
        return Speaker.model_validate(row)
    except ValidationError as error:
        place = _place_of_speaker(file, text, key)
        raise KnowledgeBaseError(f"{place}: speaker '{key}', {describe_errors(error)}. Correct it.") from error


def _place_of_speaker(file: str, text: str, key: str) -> FilePlace:
    """Return where a speaker is: in a table of its own, or in a line of [speakers]."""
    return FilePlace(file, max(_line(text, f"[speakers.{key}]"), _line(text, f"{key} = ")))


def _regions(file: str, text: str, names: object) -> set[str]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        place = FilePlace(file, _line(text, "regions = "))
        raise KnowledgeBaseError(f"{place}: regions is not a list of names. Write it as one, above every table.")
    return set(names)


def _line(text: str, phrase: str) -> int:
    """Return the number of the first line that begins with a phrase; 1 if none does."""
    return text.count("\n", 0, max(0, f"\n{text}".find(f"\n{phrase}"))) + 1
