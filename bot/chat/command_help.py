"""The commands of the chats, with what they do and who may use them. Help in Discord and Slack comes from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.translation import N_, _


@dataclass(frozen=True)
class CommandHelp:
    """The English description of a command; `leads` means that only leads and admins may use it."""

    does: str
    leads: bool = False


COMMANDS: Mapping[str, CommandHelp] = {
    "queue": CommandHelp(N_("Open cases, oldest first, those in doubt, or appeals; the groups you hide are left out")),
    "case": CommandHelp(N_("One case with its buttons, by number or key")),
    "dismiss": CommandHelp(N_("End a case because its post is not hateful; its card offers undo for a while")),
    "redraft": CommandHelp(N_("Ask for another draft of a case, in another way where one is named")),
    "reopen": CommandHelp(N_("Have a case drafted that was dismissed, rejected or escalated")),
    "hand-over": CommandHelp(N_("Give an escalated or dismissed case to other people; say to whom and why")),
    "handled": CommandHelp(N_("Note that somebody has seen to an escalated case, or to an appeal")),
    "retract": CommandHelp(N_("Ask the platform to take a released reply back; say why")),
    "note": CommandHelp(N_("Add a note to a case, for everybody who works on it")),
    "intent show": CommandHelp(N_("The intents set here, by whom and when")),
    "intent set": CommandHelp(N_("What new drafts set out to do; the narrowest that fits a case holds"), leads=True),
    "draft": CommandHelp(N_("Draft an answer to a text; only you see it")),
    "evidence": CommandHelp(N_("Search the knowledge base; only you see it")),
    "stats": CommandHelp(N_("Figures of a period, with a picture")),
    "pause": CommandHelp(N_("Keep new cards from this channel; its cases wait in the queue"), leads=True),
    "resume": CommandHelp(N_("Let cards into this channel again"), leads=True),
    "assign": CommandHelp(N_("Say who should take care of a case; leads alone assign one to others")),
    "mute-source": CommandHelp(N_("Keep the cards of a platform's posts from this server"), leads=True),
    "hide": CommandHelp(N_("Leave a group out of your own queue; nobody else is told")),
    "language": CommandHelp(N_("The language you are answered in, here and on the page")),
    "export": CommandHelp(N_("The decisions of a period as a table, without the posts"), leads=True),
    "settings": CommandHelp(N_("How this server is used")),
    "help": CommandHelp(N_("What can be typed here")),
}
"""All commands by name, as typed in Discord; in Slack, commands begin with the name."""


def help_lines(usages: Mapping[str, str], prefix: str = "") -> tuple[str, ...]:
    """Return one line per command; `usages` has the platform's notation for commands with arguments."""
    return tuple(f"{prefix}{usages.get(name, name)}: {_summary(command)}" for name, command in COMMANDS.items())


def _summary(command: CommandHelp) -> str:
    does = _(command.does)
    return _("{does} (leads)", does=does) if command.leads else does
