"""Say what a built knowledge base is made of, so that a torn or foreign one is noticed before it is used."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import Field, ValidationError

from rejoinder.domain import Moment, Record, now
from rejoinder.errors import KnowledgeBaseError

FILE = "manifest.json"
FORMAT = 1


class Manifest(Record):
    """Describe one version of a knowledge base; `files` maps a relative path to its SHA-256."""

    embedder: str
    dimension: int
    paragraphs: int
    vectors: int
    fingerprint: str
    files: dict[str, str]
    format: int = FORMAT
    created_at: Moment = Field(default_factory=now)


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below a folder but the manifest."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / FILE)
    return {path.relative_to(folder).as_posix(): _sha256(path) for path in paths}


def write(folder: Path, manifest: Manifest) -> None:
    """Write the manifest; do it last, for a folder without one is unfinished."""
    (folder / FILE).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")


def read(folder: Path) -> Manifest:
    """Read the manifest and check every file against it; raises KnowledgeBaseError when one differs."""
    try:
        manifest = Manifest.model_validate_json((folder / FILE).read_bytes())
    except OSError as error:
        raise KnowledgeBaseError(f"{folder} holds no finished knowledge base: {FILE} can't be read. Build it "
                                 "again.") from error
    except ValidationError as error:
        raise KnowledgeBaseError(f"{folder / FILE} is not a manifest of a knowledge base. Build it again.") from error
    if manifest.format != FORMAT:
        raise KnowledgeBaseError(f"{folder} has format {manifest.format}, this version reads {FORMAT}. Build the "
                                 "knowledge base again.")
    if wrong := set(manifest.files.items()) ^ set(digests(folder).items()):
        names = ", ".join(sorted({name for name, _ in wrong}))
        raise KnowledgeBaseError(f"{folder} is torn: {names} differ from the manifest. Build the knowledge base again.")
    return manifest


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
