"""Write a curator's new claim or fact into a folder of their own."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from core.domain import AttackKind, TargetGroup
from core.errors import BadInput, describe_errors
from kb.claims.checking import unlisted_figures
from kb.claims.loading import ClaimFiles, load_claims
from kb.claims.records import LANGUAGES, FiledFact, Language, Speaker


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
        return id_of(self.group, self.name)

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


@dataclass(frozen=True)
class FactDraft:
    """A fact as a curator first writes it: its fields on file less the figures, and who says it.

    `speaker` is a key on file. Without one it is the speaker on file that goes by the institution's name, or else a new
    one whose names are `speaker_names`, where the institution's name is not the same in a language.
    """

    group: TargetGroup
    fields: Mapping[str, object]
    speaker: str | None = None
    speaker_names: Mapping[Language, str] | None = None


def append(draft: ClaimDraft, folder: Path) -> Path:
    """Add a claim to its group's file in `folder`, and return the file.

    Raises BadInput for an id that is taken, and KnowledgeBaseError if the folder's files can't be read.
    """
    _require_free(draft.id, load_claims(folder))
    return _add_to(folder / "claims" / f"{draft.group}.toml", draft.as_toml())


def append_fact(draft: FactDraft, folder: Path) -> Path:
    """Add a fact, and its speaker if that is new, to the group's file in `folder`, and return the file.

    The numbers that its English sentence states become its figures. Raises BadInput for an id that is taken, for a
    speaker that is not on file and for a field that can't be right, and KnowledgeBaseError if the folder's files can't
    be read.
    """
    files = load_claims(folder)
    try:
        key, speaker = _speaker_of(draft, files)
        fact = FiledFact.model_validate({**draft.fields, "groups": [draft.group], "speaker": key})
    except ValidationError as error:
        raise BadInput(f"This is no fact: {describe_errors(error)}. Correct it and run the command again.") from error
    _require_free(fact.id, files)
    stated = unlisted_figures(fact, files.speakers.get(key, speaker), fact.text)
    fact = fact.model_copy(update={"figures": tuple(map(str, sorted(stated)))})
    return _add_to(folder / "facts" / f"{draft.group}.toml", _fact_as_toml(fact) + _speaker_as_toml(key, speaker))


def id_of(group: TargetGroup, name: str) -> str:
    """Return the id of a claim or fact: the group, then the name."""
    return f"{group.replace('_', '-')}-{name}"


def _speaker_of(draft: FactDraft, files: ClaimFiles) -> tuple[str, Speaker | None]:
    """Return the key of the fact's speaker, and the speaker if it is not on file yet."""
    institution = str(draft.fields["institution"])
    if draft.speaker and draft.speaker not in files.speakers:
        raise BadInput(
            f"No speaker is called '{draft.speaker}'. Take a key of [speakers] in kb/facts/*.toml, or leave --speaker "
            "out: the institution then becomes a speaker."
        )
    named = (name for name, speaker in files.speakers.items() if institution in speaker.en)
    key = draft.speaker or next(named, None)
    if key is None:
        key = _key_for(institution)
        if key in files.speakers:
            raise BadInput(
                f"The speaker '{key}' is on file as '{files.speakers[key].en[0]}', not '{institution}'. Give that name "
                f"as the institution, or --speaker {key}."
            )
        return key, Speaker(
            **{language: ((draft.speaker_names or {}).get(language, institution),) for language in LANGUAGES}
        )
    if draft.speaker_names:
        raise BadInput(f"The speaker '{key}' has its names on file. Leave --speaker-name out.")
    return key, None


def _key_for(institution: str) -> str:
    letters = unicodedata.normalize("NFKD", institution).encode("ascii", "ignore").decode().lower()
    return (
        "-".join(re.findall(r"[a-z0-9]+", letters))
        or f"speaker-{sha256(institution.encode('utf-8', 'replace')).hexdigest()[:8]}"
    )


def _fact_as_toml(fact: FiledFact) -> str:
    fields = fact.model_dump(mode="json", exclude_defaults=True, exclude={"text", "short", "reviewed_at"})
    lines = ["[[fact]]", *(f"{name} = {_quoted(value)}" for name, value in fields.items())]
    lines.append(f"reviewed_at = {fact.reviewed_at}")
    for form, texts in (("text", fact.text), ("short", fact.short)):
        lines += [f"[fact.{form}]", *(f"{language} = {_quoted(text)}" for language, text in texts.items())]
    return "\n".join(lines) + "\n"


def _speaker_as_toml(key: str, speaker: Speaker | None) -> str:
    """Return a table for a new speaker, which may stand anywhere in a file; nothing for one on file."""
    if speaker is None:
        return ""
    names = (f"{language} = {_quoted(speaker.names(language))}" for language in LANGUAGES)
    return "\n".join(("", f"[speakers.{key}]", *names)) + "\n"


def _require_free(name: str, files: ClaimFiles) -> None:
    if name in files.places:
        raise BadInput(f"The id {name} is taken. Choose another name.")


def _add_to(path: Path, table: str) -> Path:
    """Add a table to a file, which is replaced as a whole; raises BadInput if the file could not be read then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (path.read_text(encoding="utf-8") + "\n" if path.exists() else "") + table
    try:
        tomllib.loads(text)
        written = text.encode()
    except (tomllib.TOMLDecodeError, UnicodeEncodeError) as error:
        raise BadInput(f"{path} could not be read with this entry ({error}); nothing was written.") from error
    beside = path.with_suffix(".new")
    beside.write_bytes(written)
    beside.replace(path)
    return path


def _quoted(value: object) -> str:
    """Return a string, or a list of them, as TOML; all that JSON lets stand and TOML does not is the character DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
