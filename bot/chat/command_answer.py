"""The answer to a command, the same in Discord and Slack."""

from __future__ import annotations

from dataclasses import dataclass

from bot.chat.cards import MAX_LINE, EvidenceLine
from bot.chat.defuse import defuse
from core.domain import Case


@dataclass(frozen=True)
class Attachment:
    """A file attached to an answer."""

    name: str
    data: bytes


@dataclass(frozen=True)
class CommandAnswer:
    """The answer to a command, for the person who typed it; all its texts are defused.

    `quote` is a drafted reply, `case` is to be shown as a card, and `evidence` in full.
    """

    lines: tuple[str, ...]
    quote: str = ""
    evidence: tuple[EvidenceLine, ...] = ()
    case: Case | None = None
    attachment: Attachment | None = None


def in_lines(*lines: str) -> CommandAnswer:
    """Return an answer of several lines, defused."""
    return CommandAnswer(tuple(defuse(line, 2 * MAX_LINE) for line in lines))
