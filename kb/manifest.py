"""Record what a built knowledge base consists of, so that a damaged or foreign one is noticed before it is used."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import Field, ValidationError

from core.domain import Moment, Record, now
from core.errors import KnowledgeBaseError
from kb.versions import BUILD_AGAIN

FILE = "manifest.json"
FORMAT = 3


class Manifest(Record):
    """The contents of one version of a knowledge base; `files` maps relative paths to SHA-256 digests.

    `segments` are its subfolders, in the order in which their paragraphs are numbered. `fingerprint` is that of the
    statements it was built from; an update keeps it.
    """

    embedder: str
    dimension: int
    paragraphs: int
    fingerprint: str
    files: dict[str, str]
    segments: tuple[str, ...] = ()
    format: int = FORMAT
    created_at: Moment = Field(default_factory=now)


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below a folder except the manifest."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / FILE)
    return {path.relative_to(folder).as_posix(): _sha256(path) for path in paths}


def write(folder: Path, manifest: Manifest) -> None:
    """Write the manifest; do this last, as a folder without one is unfinished."""
    (folder / FILE).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")


def read(folder: Path) -> Manifest:
    """Read the manifest and check every file against it; raises KnowledgeBaseError if one differs."""
    try:
        manifest = Manifest.model_validate_json((folder / FILE).read_bytes())
    except OSError as error:
        raise KnowledgeBaseError(
            f"{folder} holds no finished knowledge base: {FILE} can't be read. {BUILD_AGAIN}"
        ) from error
    except ValidationError as error:
        raise KnowledgeBaseError(f"{folder / FILE} is not a manifest of a knowledge base. {BUILD_AGAIN}") from error
    if manifest.format != FORMAT:
        raise KnowledgeBaseError(f"{folder} has format {manifest.format}, this version reads {FORMAT}. {BUILD_AGAIN}")
    if wrong := set(manifest.files.items()) ^ set(digests(folder).items()):
        names = ", ".join(sorted({name for name, _ in wrong}))
        raise KnowledgeBaseError(f"{folder} is torn: {names} differ from the manifest. {BUILD_AGAIN}")
    return manifest


def _sha256(path: Path) -> str:
    at = path.stat()
    identity = (at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns)
    if identity not in _seen:
        with path.open("rb") as file:
            _seen[identity] = hashlib.file_digest(file, "sha256").hexdigest()
    return _seen[identity]


_seen: dict[tuple[int, int, int, int], str] = {}
"""Digests by file, so that an update hashes only new files: versions share the others."""
