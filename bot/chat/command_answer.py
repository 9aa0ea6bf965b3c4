"""What a command answers, the same in Discord and Slack."""

from __future__ import annotations

from dataclasses import dataclass

from bot.chat.cards import MAX_LINE, EvidenceLine
from bot.chat.defuse import defuse
from core.domain import Case


@dataclass(frozen=True)
class Attachment:
    """A file that goes with an answer."""

    name: str
    data: bytes


@dataclass(frozen=True)
class CommandAnswer:
    """The answer to a command, for the one who typed it; all its texts are defused.

    `quote` is a reply that was drafted, `case` is to be shown as a card, `evidence` in full.
    """

    lines: tuple[str, ...]
    quote: str = ""
    evidence: tuple[EvidenceLine, ...] = ()
    case: Case | None = None
    attachment: Attachment | None = None


def in_lines(*lines: str) -> CommandAnswer:
    """Answer with some lines, defused."""
    return CommandAnswer(tuple(defuse(line, 2 * MAX_LINE) for line in lines))
