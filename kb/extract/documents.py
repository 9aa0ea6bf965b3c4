"""The record of a document before it is read."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

from pydantic import AliasChoices, Field, field_validator

from core.domain import Record, TargetGroup

Line = Annotated[str, Field(min_length=1, pattern=r"^\S(.*\S)?$")]


class SourceDocument(Record):
    """A file to take paragraphs from, with its citation.

    The fields are those of a crawl's manifest; other fields there are ignored. `groups` are the target groups that the
    whole document is about. `language` is ISO 639-1, None if unknown. `url` is empty if there is none to cite.
    """

    id: Line
    file: Path
    title: Line
    institution: Line
    symbol: Line
    year: Annotated[int, Field(ge=1900, le=2100)]
    url: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""
    groups: Annotated[tuple[TargetGroup, ...], Field(validation_alias=AliasChoices("groups", "group"))] = ()
    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")] | None = None

    @field_validator("groups", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(part.strip() for part in value.replace(";", ",").split(",") if part.strip())

    @property
    def citation_digest(self) -> str:
        """Return a digest of everything except the file's content and location."""
        return hashlib.sha256(self.model_dump_json(exclude={"file"}).encode()).hexdigest()
