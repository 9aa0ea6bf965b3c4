"""The commands of the chats: what each does and answers, the same in Discord and Slack.

| command        | who may   | does                                                            |
|----------------|-----------|-----------------------------------------------------------------|
| queue          | reviewers | lists open cases, oldest first; hidden groups are left out      |
| case           | reviewers | shows one case, by number or key                                |
| intent show    | reviewers | lists what intents are set, by whom and when                    |
| intent set     | leads     | sets the intent of the server, a channel, a group or a language |
| pause, resume  | leads     | keeps new cards from a channel; its cases wait in the queue     |
| assign         | leads     | says who should take care of a case; anybody may take it        |
| mute-source    | leads     | keeps a platform's cards from the server                        |
| hide           | reviewers | leaves a group out of one's own queue; nobody else is told      |
| settings       | reviewers | says how the server is used                                     |
| stats          | reviewers | gives the figures of a period, with a picture                   |
| export         | leads     | gives the decisions of a period as a table                      |
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.chat import stats
from bot.chat.cards import GROUP_NAMES, MAX_LINE, groups_line
from bot.chat.defuse import defuse
from bot.chat.intents import scope
from bot.chat.people import require_lead
from bot.desk import CaseQuery, Desk, Moderator
from bot.wording import holder
from core.domain import Case, CaseState, Intent, TargetGroup, now
from core.errors import BadInput
from core.settings import ChatWorkspace
from ledger import Ledger
from ledger.moderator_settings import ScopeKind, SwitchKind

LISTED = 10
LOOKED_THROUGH = 200
MAX_PLATFORM = 64


@dataclass(frozen=True)
class Place:
    """The chat, server and channel in which a command was typed."""

    surface: str
    server: str
    channel: str


@dataclass(frozen=True)
class Attachment:
    """A file that goes with a reply."""

    name: str
    data: bytes


@dataclass(frozen=True)
class Reply:
    """The answer to a command, for the one who typed it. The lines are defused; `case` is to be shown as a card."""

    lines: tuple[str, ...]
    case: Case | None = None
    attachment: Attachment | None = None


class Commands:
    """The commands; every method raises Forbidden, BadInput, CaseNotFound or Unavailable in plain words."""

    def __init__(self, desk: Desk, ledger: Ledger, servers: Mapping[str, ChatWorkspace]) -> None:
        self._desk = desk
        self._ledger = ledger
        self._servers = servers

    async def queue(self, who: Moderator, *, group: TargetGroup | None = None, mine: bool = False) -> Reply:
        """List open cases, the oldest first; `mine` are those held by or assigned to `who`."""
        hidden = await self._ledger.moderator_settings.hidden(who.name) if group is None else frozenset()
        cases = await self._mine(who) if mine else await self._open(group)
        seen = [case for case in cases if not _only(case, hidden)]
        lines = [await self._line(case) for case in seen[:LISTED]]
        if not lines:
            return Reply(("Nothing waits for you." if mine else "The queue is empty.",))
        if len(seen) > LISTED:
            more = f"{len(seen) - LISTED}{' or more' if len(cases) == LOOKED_THROUGH else ''}"
            lines.append(f"… and {more} more. Open one with: case NUMBER")
        return Reply(tuple(lines))

    async def case(self, id: str) -> Reply:
        """Show one case, by its number or its key."""
        return Reply((), case=await self._desk.case(await self._key(id)))

    async def show_intents(self, place: Place) -> Reply:
        """List the intents set on a server, the narrowest first."""
        known = await self._ledger.moderator_settings.intents(place.surface, place.server)
        order = list(ScopeKind)
        lines = [
            f"{_scope(item.kind, item.scope)}: {item.intent}, set by {item.who} on {_moment(item.at)}"
            for item in sorted(known, key=lambda item: (order.index(item.kind), item.scope))
        ]
        return _lines("The narrowest that fits a case holds.", *lines) if lines else Reply(("No intent is set here.",))

    async def set_intent(
        self, place: Place, who: Moderator, intent: Intent | None, kind: ScopeKind, name: str = ""
    ) -> Reply:
        """Set the intent of a scope, or clear it with None; the channel's name may be left out for this one."""
        require_lead(who, "set an intent")
        where = scope(kind, (name or place.channel) if kind is ScopeKind.CHANNEL else name)
        await self._ledger.moderator_settings.set_intent(place.surface, place.server, kind, where, intent, who.name)
        return _lines(f"{_scope(kind, where)}: {intent or 'no intent of its own any more'}. It holds for new drafts.")

    async def pause(self, place: Place, who: Moderator, *, on: bool, hours: float | None = None) -> Reply:
        """Keep new cards from a channel, or let them in again."""
        require_lead(who, "pause or resume a channel")
        until = _until(hours) if on else None
        await self._ledger.moderator_settings.switch(
            place.surface, place.server, SwitchKind.PAUSED, place.channel, who.name, on=on, until=until
        )
        if on:
            return _lines(f"Paused{_span(until)}: new cases wait in the queue.")
        return _lines("Resumed: what waited gets its cards.")

    async def mute(self, place: Place, who: Moderator, platform: str, *, on: bool, hours: float | None = None) -> Reply:
        """Keep the cards of a platform's posts from a server, or let them in again."""
        require_lead(who, "mute a source")
        if not 0 < len(platform.strip()) <= MAX_PLATFORM:
            raise BadInput("Which source? Name the platform as the cards do.")
        until = _until(hours) if on else None
        await self._ledger.moderator_settings.switch(
            place.surface, place.server, SwitchKind.MUTED, platform.strip(), who.name, on=on, until=until
        )
        return _lines(f"{platform.strip()} is {'muted' + _span(until) if on else 'no longer muted'} here.")

    async def assign(self, who: Moderator, id: str, assignee: Moderator) -> Reply:
        """Say who should take care of a case; anybody may assign one to themselves."""
        if assignee.name != who.name:
            require_lead(who, "assign a case to somebody else")
        key = await self._key(id)
        await self._ledger.moderator_settings.assign(key, assignee.name, who.name)
        return _lines(f"Case {await self._ledger.cards.number(key)} is assigned to {assignee.name}.")

    async def hide(self, who: Moderator, group: TargetGroup, *, hidden: bool) -> Reply:
        """Leave a group out of one's own queue, or take it in again."""
        await self._ledger.moderator_settings.hide(who.name, group, hidden=hidden)
        where = "no longer in your queue" if hidden else "in your queue again"
        return _lines(f"Posts against {GROUP_NAMES[group]} are {where}. Nobody else is told.")

    async def settings(self, place: Place) -> Reply:
        """Say how a server is used."""
        server = self._servers[place.server]
        switched = await self._ledger.moderator_settings.switched(place.surface, place.server)
        return _lines(
            f"Cases go to {server.channel or 'no channel'} unless a rule says otherwise.",
            *(f"Rule: {_criteria(rule)} go to {rule.channel}." for rule in server.rules),
            f"Leads: {len(server.leads)} ids, admins: {len(server.admins)} ids, "
            f"reviewers: {f'{len(server.reviewers)} ids' if server.reviewers else 'everyone'}.",
            *(f"{item.kind.capitalize()}: {item.scope}{_span(item.until)}, by {item.who}." for item in switched),
        )

    async def export(self, who: Moderator, period: str = "4w") -> Reply:
        """Give the decisions of a period as CSV, without the posts."""
        require_lead(who, "export decisions")
        statistics = await self._ledger.statistics.since(now() - stats.period(period))
        file = Attachment(f"rejoinder-{now():%Y-%m-%d}.csv", stats.table(statistics.decided))
        summary = f"{len(statistics.decided)} decisions since {_moment(statistics.since)} are in {file.name}."
        return Reply((summary,), attachment=file)

    async def stats(self, period: str = "7d") -> Reply:
        """Give the figures of a period, with a picture when there is something to draw."""
        figures = await stats.figures(self._ledger, stats.period(period))
        lines = tuple(stats.in_words(figures).splitlines())
        if not figures.by_intent:
            return Reply(lines)
        picture = await asyncio.to_thread(stats.picture, figures)
        return Reply(lines, attachment=Attachment("rejoinder-stats.png", picture))

    async def _open(self, group: TargetGroup | None) -> Sequence[Case]:
        return (await self._desk.queue(CaseQuery(group=group, limit=LOOKED_THROUGH))).cases

    async def _mine(self, who: Moderator) -> list[Case]:
        held = (await self._desk.queue(CaseQuery(claimed_by=who.name, limit=LOOKED_THROUGH))).cases
        assigned = [
            await self._desk.case(item.case_key) for item in await self._ledger.moderator_settings.assigned(who.name)
        ]
        pending = {case.key: case for case in (*held, *assigned) if case.state is CaseState.PENDING}
        return sorted(pending.values(), key=lambda case: case.received_at)

    async def _line(self, case: Case) -> str:
        number = await self._ledger.cards.number(case.key)
        held = f", held by {holder(case)}" if holder(case) else ""
        age = now() - case.received_at
        return defuse(f"{number}: {groups_line(case)}, {_age(age)} old, {case.post.platform}{held}", MAX_LINE)

    async def _key(self, id: str) -> str:
        id = id.strip().removeprefix("#")
        if not id:
            raise BadInput("Which case? Give its number, as on its card.")
        return await self._ledger.cards.key(int(id)) if id.isdecimal() and len(id) < 19 else id


def _lines(*lines: str) -> Reply:
    return Reply(tuple(defuse(line, 2 * MAX_LINE) for line in lines))


def _only(case: Case, hidden: frozenset[TargetGroup]) -> bool:
    groups = {item.group for item in case.triage.groups} if case.triage else set()
    return bool(groups) and groups <= hidden


def _scope(kind: ScopeKind, name: str) -> str:
    return "Everywhere on this server" if kind is ScopeKind.SERVER else f"{kind.capitalize()} {name}"


def _criteria(rule: object) -> str:
    named = [str(item) for part in ("groups", "languages", "platforms") for item in getattr(rule, part)]
    return ", ".join(named) or "all cases"


def _until(hours: float | None) -> datetime | None:
    if hours is not None and not 0 < hours <= 24 * 365:
        raise BadInput("The hours must be more than 0 and at most a year's.")
    return None if hours is None else now() + timedelta(hours=hours)


def _span(until: datetime | None) -> str:
    return "" if until is None else f" until {_moment(until)}"


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _age(age: timedelta) -> str:
    minutes = int(age.total_seconds() // 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
