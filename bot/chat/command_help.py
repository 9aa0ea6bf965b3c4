"""The commands of the chats: what may be typed, what it does and who may. Discord and Slack read their help here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class CommandHelp:
    """What a command does, in the words of every help; `leads` when leads and admins alone may type it."""

    does: str
    leads: bool = False

    @property
    def description(self) -> str:
        """Return what it does as a headline."""
        return self.does[:1].upper() + self.does[1:]


COMMANDS: Mapping[str, CommandHelp] = {
    "queue": CommandHelp("open cases, oldest first, those in doubt, or appeals; the groups you hide are left out"),
    "case": CommandHelp("one case with its buttons, by number or key"),
    "dismiss": CommandHelp("end a case because its post is not hateful; its card offers undo for a while"),
    "redraft": CommandHelp("ask for another draft of a case, in another way where one is named"),
    "reopen": CommandHelp("have a case drafted that was dismissed, rejected or escalated"),
    "hand-over": CommandHelp("give an escalated or dismissed case to other people; say to whom and why"),
    "handled": CommandHelp("note that somebody has seen to an escalated case, or to an appeal"),
    "retract": CommandHelp("ask the platform to take a released reply back; say why"),
    "note": CommandHelp("add a note to a case, for everybody who works on it"),
    "intent show": CommandHelp("the intents set here, by whom and when"),
    "intent set": CommandHelp("what new drafts set out to do; the narrowest that fits a case holds", leads=True),
    "draft": CommandHelp("draft an answer to a text; only you see it"),
    "evidence": CommandHelp("search the knowledge base; only you see it"),
    "stats": CommandHelp("figures of a period, with a picture"),
    "pause": CommandHelp("keep new cards from this channel; its cases wait in the queue", leads=True),
    "resume": CommandHelp("let cards into this channel again", leads=True),
    "assign": CommandHelp("say who should take care of a case; leads alone assign one to others"),
    "mute-source": CommandHelp("keep the cards of a platform's posts from this server", leads=True),
    "hide": CommandHelp("leave a group out of your own queue; nobody else is told"),
    "export": CommandHelp("the decisions of a period as a table, without the posts", leads=True),
    "settings": CommandHelp("how this server is used"),
    "help": CommandHelp("what can be typed here"),
}
"""Every command by its name, as it is typed in Discord and begins in Slack."""


def help_lines(usages: Mapping[str, str], prefix: str = "") -> tuple[str, ...]:
    """Return one line a command; `usages` says how a platform types those that take more than their name."""
    return tuple(
        f"{prefix}{usages.get(name, name)}: {command.does}{' (leads)' if command.leads else ''}"
        for name, command in COMMANDS.items()
    )
