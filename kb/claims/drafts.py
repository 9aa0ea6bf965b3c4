"""Write a curator's new claim into a folder of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from core.domain import AttackKind, TargetGroup
from core.errors import BadInput
from kb.claims.loading import load_claims


@dataclass(frozen=True)
class ClaimDraft:
    """A claim as a curator first writes it, in one language; `counters` are pairs of intent and sentence."""

    group: TargetGroup
    name: str
    kind: AttackKind
    gist: str
    language: str
    wordings: tuple[str, ...]
    facts: tuple[str, ...]
    counters: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """Return the claim's id: the group, then the name."""
        return f"{self.group.replace('_', '-')}-{self.name}"

    def as_toml(self) -> str:
        """Return the claim as a table; strings and arrays of JSON are valid TOML."""
        lines = [
            "[[claim]]",
            f"id = {_quoted(self.id)}",
            f"kind = {_quoted(self.kind)}",
            f"facts = {_quoted(self.facts)}",
            f"gist = {{ {self.language} = {_quoted(self.gist)} }}",
            "[claim.wordings]",
            f"{self.language} = {_quoted(self.wordings)}",
        ]
        for intent in dict.fromkeys(intent for intent, _ in self.counters):
            sentences = [sentence for other, sentence in self.counters if other == intent]
            lines += [f"[claim.counter.{intent}]", f"{self.language} = {_quoted(sentences)}"]
        return "\n".join(lines) + "\n"


def append(draft: ClaimDraft, folder: Path) -> Path:
    """Add a claim to its group's file in `folder`, and return the file.

    Raises BadInput for an id that is taken, and KnowledgeBaseError if the folder's files can't be read.
    """
    if draft.id in load_claims(folder).places:
        raise BadInput(f"The id {draft.id} is taken. Choose another name.")
    path = folder / "claims" / f"{draft.group}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text(encoding="utf-8") + "\n" if path.exists() else ""
    path.write_text(before + draft.as_toml(), encoding="utf-8")
    return path


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
