"""Write blind sheets of the drafts that systems wrote in their own words, for readers to score."""

from __future__ import annotations

from collections import defaultdict
from importlib.resources import files
from pathlib import Path
from random import Random

from core.errors import BadInput
from core.spreadsheets import without_formula
from evaluation.records import SystemDraft
from evaluation.run import RunFolder

FOLDER = "reading"
KEY = f"{FOLDER}/key.json"

ReadingKey = dict[int, dict[str, list[str]]]
"""For each number on a sheet, the post's id and the names of all systems that wrote that reply."""


def write_sheets(run: RunFolder, portion: int) -> list[Path]:
    """Write sheets of at most `portion` replies, with instructions and a key, into the run's folder `reading`.

    A reply that several systems gave appears once; replies by a strategy that stood in for a system's own are left
    out. Returns the sheets. Raises BadInput if no system has a reply of its own, or if existing sheets hold others.
    """
    systems: dict[tuple[str, str], list[str]] = defaultdict(list)
    for draft in run.drafts():
        if own_words(draft):
            systems[draft.post_id, draft.text].append(draft.system)
    if not systems:
        raise BadInput(f"{run.path} has no draft that its system wrote itself, so there is nothing to read.")
    replies = sorted(systems)
    Random(run.manifest().seed).shuffle(replies)
    key = {number: {"post": [reply[0]], "systems": systems[reply]} for number, reply in enumerate(replies, 1)}
    folder = run.path / FOLDER
    if (run.path / KEY).exists() and read_key(run) != key:
        raise BadInput(
            f"{folder} has sheets from before the drafts changed, and new ones would give their numbers to other "
            f"replies. Collect what was read, move {folder} away, and write new sheets."
        )
    posts = run.posts()
    folder.mkdir(exist_ok=True)
    for old in folder.glob("sheet-*.tsv"):
        old.unlink()
    (folder / "instructions.md").write_bytes((files("evaluation") / "reading" / "instructions.md").read_bytes())
    run.write_json(KEY, key)
    sheets: list[Path] = []
    for first in range(0, len(replies), portion):
        sheet = folder / f"sheet-{len(sheets) + 1}.tsv"
        lines = (
            f"{number}\t{_cell(posts[post].text)}\t{_cell(text)}\n"
            for number, (post, text) in enumerate(replies[first : first + portion], first + 1)
        )
        sheet.write_text("".join(lines), encoding="utf-8")
        sheets.append(sheet)
    return sheets


def own_words(draft: SystemDraft) -> bool:
    """Tell whether the system's own strategy wrote the draft, rather than one that stood in for it."""
    return bool(draft.text) and draft.writer == draft.system.partition("/")[0]


def read_key(run: RunFolder) -> ReadingKey:
    """Return the key of the sheets' numbers; raises BadInput if it is missing or damaged."""
    path = run.path / KEY
    if not path.exists():
        raise BadInput(f"{run.path} has no sheets; write them with `rejoinder evaluate read {run.path}`.")
    return {int(number): item for number, item in run.read_json(KEY).items()}


def _cell(text: str) -> str:
    """Return a text on one line that no spreadsheet takes for a formula, or for a quoted cell that spans lines."""
    line = without_formula(" ".join(text.split()))
    return f"'{line}" if line.startswith('"') else line
