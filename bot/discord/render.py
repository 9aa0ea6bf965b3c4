"""A card as Discord shows it.

Limits: https://discord.com/developers/docs/resources/message#embed-object-embed-limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate

import discord

from bot.chat.cards import ButtonAction, Card, EvidenceLine
from bot.chat.details import MAX_NAME, MAX_TEXT, DetailSection
from bot.discord.buttons import STYLES, ButtonId, CaseButton, row
from bot.discord.text import escaped, fits
from bot.translation import _, ngettext
from core.domain import CaseState

MAX_TITLE = 256
MAX_POST = 2_000
MAX_FIELD = 1_024
MAX_DESCRIPTION = 4_096
MAX_EMBED = 6_000
_SHORT = 400
_ON_CARD = 3

_COLOURS = {
    CaseState.PENDING: discord.Colour.gold(),
    CaseState.TRIAGED: discord.Colour.gold(),
    CaseState.GROUNDED: discord.Colour.gold(),
    CaseState.APPROVED: discord.Colour.green(),
    CaseState.RELEASED: discord.Colour.dark_green(),
    CaseState.ESCALATED: discord.Colour.red(),
    CaseState.FAILED: discord.Colour.red(),
}


def card_embed(card: Card, number: int) -> discord.Embed:
    """Return a card's content; the post is a spoiler that each reader must click to see."""
    colour = _COLOURS.get(card.state, discord.Colour.light_grey())
    embed = discord.Embed(
        title=f"#{number} {escaped(card.title, MAX_TITLE - 20)}",
        description=_spoiler(card.post, MAX_POST),
        colour=colour,
    )
    embed.add_field(name=_("Against"), value=escaped(card.groups, _SHORT))
    embed.add_field(name=_("Received"), value=ago(card.received_at))
    if card.url is not None:
        words = _("the post")
        embed.add_field(name=_("Where"), value=f"[{words}]({card.url})")
    if card.context:
        embed.add_field(name=_("Thread"), value=ngettext("{n} earlier post", "{n} earlier posts", card.context))
    if card.final_text is not None:
        embed.add_field(name=_("Reply"), value=escaped(card.final_text, MAX_FIELD), inline=False)
    elif card.draft or card.drafted:
        name = escaped(_("Draft, {about}", about=card.drafted), MAX_TITLE)
        embed.add_field(name=name, value=escaped(card.draft, MAX_FIELD) or _("There is none."), inline=False)
    if card.answers:
        embed.add_field(name=_("Answers the claim"), value=escaped(card.answers, _SHORT), inline=False)
    if card.warnings:
        embed.add_field(name=_("Look twice"), value=escaped("\n".join(card.warnings), _SHORT), inline=False)
    if card.evidence:
        embed.add_field(name=_("Evidence"), value=_sources(card.evidence), inline=False)
    if card.close_checks:
        embed.add_field(name=_("Close to a limit"), value=escaped("\n".join(card.close_checks), _SHORT), inline=False)
    if card.notes:
        embed.add_field(name=_("Notes"), value=escaped("\n".join(card.notes), _SHORT), inline=False)
    embed.add_field(name=_("Standing"), value=_standing(card), inline=False)
    return _fitting(embed, card.post)


def card_view(card: Card, number: int) -> discord.ui.View:
    """Return a card's buttons, without the approval of a draft that is cut once its markup is escaped."""
    return row(
        [
            CaseButton(ButtonId(button.action, card.version, number), button.label, STYLES[button.style])
            for button in card.buttons
            if button.action is not ButtonAction.APPROVE or fits(card.draft, MAX_FIELD)
        ]
    )


def evidence_embeds(lines: Sequence[EvidenceLine]) -> list[discord.Embed]:
    """Return the evidence in full, one embed per statement, as many as fit into one message."""
    embeds: list[discord.Embed] = []
    room = MAX_EMBED
    for number, line in enumerate(lines[:10], start=1):
        embed = discord.Embed(
            title=escaped(f"{number}. {line.title}", MAX_TITLE), url=line.url, description=escaped(line.text, 1_500)
        )
        embed.set_footer(text=" · ".join(filter(None, (line.why, line.where))))
        room -= len(embed)
        if room < 0:
            break
        embeds.append(embed)
    return embeds


def detail_embed(section: DetailSection) -> discord.Embed:
    """Return a section of a case's details, as many of its lines as fit."""
    lines = [f"**{escaped(name, 2 * MAX_NAME)}** · {escaped(text, 2 * MAX_TEXT)}" for name, text in section.lines]
    room = MAX_DESCRIPTION - _SHORT
    fitting = sum(length <= room for length in accumulate(len(line) + 1 for line in lines))
    more = [_("and {n} more", n=len(lines) - fitting)] if fitting < len(lines) else []
    note = f"*{escaped(section.note, _SHORT - 100)}*"
    return discord.Embed(title=section.heading, description="\n".join([note, *lines[:fitting], *more]))


def ago(moment: datetime) -> str:
    """Return a moment in Discord's relative form ("5 minutes ago"), which Discord keeps up to date."""
    return discord.utils.format_dt(moment, "R")


def _fitting(embed: discord.Embed, post: str) -> discord.Embed:
    """Return an embed that fits into a message: if all its parts are long, the post is cut further."""
    if (excess := len(embed) - MAX_EMBED) > 0:
        embed.description = _spoiler(post, len(escaped(post, MAX_POST)) - excess)
    return embed


def _spoiler(post: str, limit: int) -> str:
    return f"||{escaped(post, limit)}||"


def _sources(lines: Sequence[EvidenceLine]) -> str:
    """Return the first sources, as many of them as fit into a field, and the number of the others."""
    fields = (_first_sources(lines, count) for count in range(min(len(lines), _ON_CARD), 0, -1))
    return next(field for field in fields if len(field) <= MAX_FIELD)


def _first_sources(lines: Sequence[EvidenceLine], count: int) -> str:
    more = len(lines) - count
    return "\n".join([*map(_source, lines[:count]), *([_("and {n} more", n=more)] if more else [])])


def _source(line: EvidenceLine) -> str:
    # A link that is too long is left out, because a cut one would not work.
    why = f"**{escaped(line.why, 100)}** · " if line.why else ""
    where, title = escaped(line.where, 110), escaped(line.title, 90).replace("[", "(").replace("]", ")")
    if line.url is None or len(line.url) > 110:
        return f"{why}{title}, {where}"
    return f"{why}[{title}]({line.url}), {where}"


def _standing(card: Card) -> str:
    standing = escaped(card.standing, _SHORT)
    if card.undo_until is None:
        return standing
    undo = _("Undo until {time}.", time=discord.utils.format_dt(card.undo_until, "T"))
    return f"{standing} {undo}"
