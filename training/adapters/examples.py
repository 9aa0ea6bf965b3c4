"""Turn the files that `train pairs` wrote into rows for trl: prompts with replies, and preferences."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from core.domain import Intent, TargetGroup
from core.errors import BadInput
from models.chat import quoted
from training.decisions.gathering import folded
from training.decisions.records import EXAMPLES, PREFERENCES, Example, Preference, read_lines

Row = dict[str, Any]
Line = TypeVar("Line", Example, Preference)
REPLY_TOKENS = 150
LONGEST_POST = 2_000
"""Most characters of a post that go into a prompt."""
HELD_OUT = 10
"""One post in HELD_OUT, chosen by its digest, is only measured on, never trained on."""


def question(post: str, language: str, groups: Sequence[TargetGroup], intent: Intent) -> str:
    """Return the prompt for a post, which is quoted so that its text can't close the tags around it."""
    attacked = ", ".join(group.label for group in groups)
    attack = f", which attacks {attacked}" if attacked else ""
    return (
        f"Write a reply of at most two sentences, in the language {language!r}, to the post between <post> and "
        f"</post>{attack}. Oppose it calmly. Intent of the reply: {intent}.\n"
        f"<post>{quoted(post, LONGEST_POST)}</post>\nReply:"
    )


def imitations(folder: Path) -> tuple[list[Row], list[Row]]:
    """Return prompts with replies to imitate: those to train on, and those held out.

    Raises BadInput for files that can't be read, or too few examples.
    """
    learned, held_out = _split(read_lines(folder / EXAMPLES, Example), folder)
    return [_imitation(line) for line in learned], [_imitation(line) for line in held_out]


def preferences(folder: Path) -> tuple[list[Row], list[Row]]:
    """Return prompts with a chosen and a rejected reply: those to train on, and those held out.

    Raises BadInput for files that can't be read, or too few examples.
    """
    learned, held_out = _split(read_lines(folder / PREFERENCES, Preference), folder)
    return [_preference(line) for line in learned], [_preference(line) for line in held_out]


def asked(rows: Iterable[Row], talks: bool) -> list[Row]:
    """Return the rows in trl's format: as messages if the model has a chat template (`talks`), else as plain text."""
    if not talks:
        return [{name: f" {text}" if name != "prompt" and name in _TEXTS else text for name, text in row.items()}
                for row in rows]  # fmt: skip
    return [
        {name: [{"role": _TEXTS[name], "content": text}] if name in _TEXTS else text for name, text in row.items()}
        for row in rows
    ]


_TEXTS = {"prompt": "user", "completion": "assistant", "chosen": "assistant", "rejected": "assistant"}


def _question(line: Example | Preference) -> str:
    return question(line.post, line.language, line.groups, line.intent)


def _imitation(line: Example) -> Row:
    groups = [str(group) for group in line.groups]
    return {
        "prompt": _question(line), "completion": line.reply, "post": line.post, "language": line.language,
        "intent": str(line.intent), "groups": groups,
    }  # fmt: skip


def _preference(line: Preference) -> Row:
    return {"prompt": _question(line), "chosen": line.chosen, "rejected": line.rejected}


def _split(lines: Sequence[Line], folder: Path) -> tuple[list[Line], list[Line]]:
    learned: list[Line] = []
    held_out: list[Line] = []
    for line in lines:
        digest = hashlib.sha256(folded(line.post).encode()).digest()
        (learned if digest[0] % HELD_OUT else held_out).append(line)
    if not learned or not held_out:
        raise BadInput(
            f"{folder} has {len(lines)} examples, too few to learn from some and measure on others. Gather more."
        )
    return learned, held_out
