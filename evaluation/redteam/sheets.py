"""Read the red team's own drafts, which are shipped beside this module as sheets of scenes.

A scene has a post, the facts that answer it, and good and bad drafts by kind, which differ only slightly.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Any

from core.domain import TargetGroup
from evaluation.redteam.lines import DraftLine, Statement
from kb.claims.facts import language_on_file
from kb.claims.loading import ClaimFiles, load_claims

SHEETS = {"en-1": "en", "en-2": "en", "es": "es", "it": "it", "eu": "eu"}
"""The language of each sheet."""

LEARNED = {
    "tuning": "written for choosing limits",
    "fresh": "written before their author had seen a check",
    "second": "written before the change that brought `fits`, `topic` and `garbled`",
    "third": "written by somebody else than whoever made the checks of that day, and counted twice",
    "fourth": "written by a reader that had seen nothing of the project, labelled by a second one, and counted once",
    "fifth": "written like the fourth by another reader; checks by words were mended with it in view",
    "sixth": "written like the fifth by another reader; checks by words were mended with it in view",
    "seventh": "written like the sixth by another reader; checks by words were mended with it in view",
    "eighth": "written like the seventh by another reader; checks by words were mended with it in view",
    "ninth": "written like the eighth by another reader; checks by words were mended with it in view",
    "tenth": "written like the ninth by another reader; counted once, after all changes made with others in view",
    "eleventh": "written like the tenth by another reader; checks by words were mended with it in view",
}
"""Sets of drafts in free wording to which the weighing of checks was fitted, and when they were written."""

FRESH = {
    "twelfth": "written like the eleventh by another reader; counted for three candidates, chosen among by others",
}
"""Sets of drafts that nothing was fitted to, and when they were written."""


@dataclass(frozen=True)
class LabelledDraft:
    """One draft of the red team: whether it is fit to show, and the kind of its merit or fault."""

    line: DraftLine
    good: bool
    kind: str
    tuning: bool
    """Whether checks may be tuned on it. All drafts of a scene, in every language, fall in the same half."""


def red_team() -> tuple[LabelledDraft, ...]:
    """Return all drafts of the sheets."""
    claims = load_claims()
    return tuple(draft for sheet, language in SHEETS.items() for draft in _sheet(sheet, language, claims))


def fresh(name: str) -> tuple[LabelledDraft, ...]:
    """Return one of the LEARNED or FRESH sets of drafts, written in free wording."""
    text = (files("evaluation.redteam") / "drafts" / f"{name}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return tuple(
        LabelledDraft(DraftLine.model_validate(row), row["label"] == "good", row["kind"], tuning=False) for row in rows
    )


def _sheet(sheet: str, language: str, claims: ClaimFiles) -> Iterator[LabelledDraft]:
    entry = files("evaluation.redteam") / "drafts" / f"{sheet}.toml"
    for scene in tomllib.loads(entry.read_text(encoding="utf-8"))["scene"]:
        yield from _scene(scene, language, claims)


def _scene(scene: Mapping[str, Any], language: str, claims: ClaimFiles) -> Iterator[LabelledDraft]:
    evidence = tuple(_statement(fact, language, claims) for fact in scene["facts"])
    wordings = {"fact" if place == 0 else f"fact{place + 1}": item.text for place, item in enumerate(evidence)}
    for label in ("good", "bad"):
        for kind, texts in scene[label].items():
            for number, text in enumerate(texts, 1):
                line = DraftLine(
                    id=f"{language}-{scene['id']}-{label}-{kind}-{number}",
                    language=language,
                    groups=tuple(map(TargetGroup, scene["groups"])),
                    post=scene["post"],
                    evidence=evidence,
                    draft=text.format_map(wordings),
                )
                yield LabelledDraft(line, label == "good", kind, _is_for_tuning(scene["id"]))


def _statement(fact_id: str, language: str, claims: ClaimFiles) -> Statement:
    on_file = language_on_file(language)
    if on_file is None:
        raise ValueError(f"No facts are on file in '{language}'.")
    fact = claims.facts[fact_id]
    return Statement(
        text=fact.text[on_file], institution=fact.institution, title=fact.title, symbol=fact.symbol, year=fact.year
    )


def _is_for_tuning(scene: str) -> bool:
    return sha256(scene.encode()).digest()[0] % 2 == 0
