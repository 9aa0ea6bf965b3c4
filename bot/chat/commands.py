"""Carry out the commands of the chats, the same in Discord and Slack; `bot.chat.command_help` lists them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot import stats
from bot.chat.cards import MAX_DRAFT, MAX_LINE, EvidenceLine, evidence_line, evidence_lines, groups_line
from bot.chat.defuse import defuse
from bot.chat.own_cases import OwnCases
from bot.chat.place import Place
from bot.desk import CaseQuery, Desk
from bot.intent_scopes import named_scope, scope
from bot.permissions import Moderator, require_lead
from bot.pipeline_cli import PipelineCli
from bot.wording import duration, hate_probability, holder
from core.domain import Action, Case, Decision, Intent, StrategyName, TargetGroup, now
from core.errors import BadInput
from core.settings import ChatWorkspace
from ledger import Ledger
from ledger.moderator_settings import ScopeKind, SwitchKind

LISTED = 10
LOOKED_THROUGH = 200
SUGGESTED = 50
MAX_PLATFORM = 64
MAX_REASON = 500
MAX_NOTE = 2_000
_DONE = {
    Action.REOPEN: "open again and gets a draft",
    Action.HAND_OVER: "handed over",
    Action.HANDLE: "marked as handled",
    Action.RETRACT: "retracted; the platform is told",
}


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


class Commands:
    """The commands, which know a server's own cases alone.

    Every method raises Forbidden, BadInput, CaseNotFound or Unavailable in plain words.
    """

    def __init__(
        self,
        desk: Desk,
        ledger: Ledger,
        servers: Mapping[str, ChatWorkspace],
        own_cases: OwnCases,
        pipeline_cli: PipelineCli,
    ) -> None:
        self._desk = desk
        self._ledger = ledger
        self._servers = servers
        self._own_cases = own_cases
        self._pipeline_cli = pipeline_cli

    async def queue(
        self,
        place: Place,
        who: Moderator,
        *,
        group: TargetGroup | None = None,
        mine: bool = False,
        doubtful: bool = False,
        appeals: bool = False,
    ) -> CommandAnswer:
        """List a server's open cases, the oldest first: those in doubt or the others.

        `mine` are those held by or assigned to `who`, in doubt or not; `appeals` are closed cases with an appeal.
        """
        hidden = await self._ledger.moderator_settings.hidden(who.name) if group is None else frozenset()
        if appeals:
            cases = await self._appealed(place, group, hidden)
        else:
            cases = await self._mine(place, who, hidden) if mine else await self._open(place, group, doubtful, hidden)
        lines = [await self._line(case) for case in cases[:LISTED]]
        if not lines:
            lines.append("Nothing waits for you." if mine else "The queue is empty.")
        if len(cases) > LISTED:
            more = f"{len(cases) - LISTED}{' or more' if len(cases) == LOOKED_THROUGH else ''}"
            lines.append(f"… and {more} more. Open one with: case NUMBER")
        if not (mine or doubtful or appeals) and (count := len(await self._appealed(place, None))):
            lines.append(f"Appeals: {count}. List them with: queue appeals")
        if not (mine or doubtful or appeals) and (count := await self._doubtful(place)):
            lines.append(f"In doubt, hateful or not: {count}. List them with: queue doubtful")
        return CommandAnswer(tuple(lines))

    async def dismiss(self, place: Place, who: Moderator, id: str) -> CommandAnswer:
        """Dismiss a case as not hateful, and show it with the button that undoes it."""
        seen = await self._case(place, id)
        case = await self._desk.decide(seen.key, Decision(action=Action.DISMISS, version=seen.version), who)
        return CommandAnswer((f"Case {await self._ledger.cards.number(case.key)} is dismissed.",), case=case)

    async def redraft(
        self, place: Place, who: Moderator, id: str, strategy: StrategyName | None = None
    ) -> CommandAnswer:
        """Ask for another draft of a case, by a strategy of the desk's where one is named."""
        seen = await self._case(place, id)
        decision = Decision(action=Action.REDRAFT, version=seen.version, strategy=strategy)
        await self._desk.decide(seen.key, decision, who)
        by = f" by {strategy}" if strategy else ""
        return _lines(f"Another draft{by} is being written for case {await self._ledger.cards.number(seen.key)}.")

    async def after_the_end(
        self, place: Place, who: Moderator, action: Action, id: str, words: str = ""
    ) -> CommandAnswer:
        """Do with a closed case what `action` says, with `words` as the reason, and show it as it is then."""
        seen = await self._case(place, id)
        decision = Decision(action=action, version=seen.version, reason=words.strip()[:MAX_REASON] or None)
        case = await self._desk.decide(seen.key, decision, who)
        return CommandAnswer((f"Case {await self._ledger.cards.number(case.key)} is {_DONE[action]}.",), case=case)

    async def note(self, place: Place, who: Moderator, id: str, text: str) -> CommandAnswer:
        """Add a note to a case for whoever looks at it next, and show it."""
        case = await self._desk.note((await self._case(place, id)).key, text[:MAX_NOTE], who)
        return CommandAnswer((f"Noted on case {await self._ledger.cards.number(case.key)}.",), case=case)

    async def case(self, place: Place, id: str) -> CommandAnswer:
        """Show one case, by its number or its key."""
        return CommandAnswer((), case=await self._case(place, id))

    async def suggested_cases(self, place: Place, typed: str) -> list[tuple[int, Case]]:
        """Return the oldest open cases whose numbers begin as typed, each with its number."""
        cases = await self._own_cases.list(place.server, CaseQuery(limit=SUGGESTED), SUGGESTED)
        numbered = [(await self._ledger.cards.number(case.key), case) for case in cases]
        return [(number, case) for number, case in numbered if str(number).startswith(typed.strip().removeprefix("#"))]

    async def suggested_platforms(self, place: Place, typed: str) -> list[str]:
        """Return the platforms of the newest cases whose names hold what was typed."""
        query = CaseQuery(states=(), limit=LOOKED_THROUGH, oldest_first=False)
        names = dict.fromkeys(case.post.platform for case in await self._own_cases.list(place.server, query))
        return [name for name in names if typed.lower() in name.lower()]

    async def show_intents(self, place: Place) -> CommandAnswer:
        """List the intents set on a server, the narrowest first."""
        known = await self._ledger.moderator_settings.intents(place.surface, place.server)
        order = list(ScopeKind)
        lines = [
            f"{_scope(item.kind, item.scope)}: {item.intent}, set by {item.who} on {_moment(item.at)}"
            for item in sorted(known, key=lambda item: (order.index(item.kind), item.scope))
        ]
        if not lines:
            return _lines("No intent is set here.")
        return _lines("The narrowest that fits a case holds.", *lines)

    async def set_intent(
        self, place: Place, who: Moderator, intent: Intent | None, named: Mapping[ScopeKind, str]
    ) -> CommandAnswer:
        """Set the intent of the scope that was named, or clear it with None; a channel without a name is this one."""
        require_lead(who, "set an intent")
        kind, name = named_scope(named)
        where = scope(kind, (name or place.channel) if kind is ScopeKind.CHANNEL else name)
        await self._ledger.moderator_settings.set_intent(place.surface, place.server, kind, where, intent, who.name)
        return _lines(f"{_scope(kind, where)}: {intent or 'no intent of its own any more'}. It holds for new drafts.")

    async def draft(self, text: str, intent: Intent | None) -> CommandAnswer:
        """Draft an answer to a text, with its evidence; it becomes no case."""
        draft, grounding, reason = await self._pipeline_cli.draft(text, intent)
        evidence = evidence_lines(grounding)
        if draft is None or not draft.text:
            reason = (draft.note if draft else "") or reason
            return CommandAnswer((defuse(f"No draft: {reason}", 2 * MAX_LINE),), evidence=evidence)
        return CommandAnswer((), quote=defuse(draft.text, MAX_DRAFT), evidence=evidence)

    async def evidence(self, query: str, group: TargetGroup | None) -> CommandAnswer:
        """Search the knowledge base."""
        statements = await self._pipeline_cli.evidence(query, group)
        if not statements:
            return CommandAnswer(("Nothing fits. Try other words, or without a group.",))
        lines = tuple(evidence_line(item) for item in statements)
        return CommandAnswer((defuse(f"Evidence for: {query}", MAX_LINE),), evidence=lines)

    async def pause(self, place: Place, who: Moderator, *, on: bool, hours: float | None = None) -> CommandAnswer:
        """Keep new cards from a channel, or let them in again."""
        require_lead(who, "pause or resume a channel")
        until = _until(hours) if on else None
        await self._ledger.moderator_settings.switch(
            place.surface, place.server, SwitchKind.PAUSED, place.channel, who.name, on=on, until=until
        )
        if on:
            return _lines(f"Paused{_until_words(until)}: new cases wait in the queue.")
        return _lines("Resumed: what waited gets its cards.")

    async def mute(
        self, place: Place, who: Moderator, platform: str, *, on: bool, hours: float | None = None
    ) -> CommandAnswer:
        """Keep the cards of a platform's posts from a server, or let them in again."""
        require_lead(who, "mute a source")
        if not 0 < len(platform.strip()) <= MAX_PLATFORM:
            raise BadInput("Which source? Name the platform as the cards do.")
        until = _until(hours) if on else None
        await self._ledger.moderator_settings.switch(
            place.surface, place.server, SwitchKind.MUTED, platform.strip(), who.name, on=on, until=until
        )
        return _lines(f"{platform.strip()} is {'muted' + _until_words(until) if on else 'no longer muted'} here.")

    async def assign(self, place: Place, who: Moderator, id: str, assignee: Moderator) -> CommandAnswer:
        """Say who should take care of a case; anybody may assign one to themselves."""
        seen = await self._case(place, id)
        key = seen.key
        decision = Decision(action=Action.ASSIGN, version=seen.version, assignee=assignee.name)
        await self._desk.decide(key, decision, who)
        return _lines(f"Case {await self._ledger.cards.number(key)} is assigned to {assignee.name}.")

    async def hide(self, who: Moderator, group: TargetGroup, *, hidden: bool) -> CommandAnswer:
        """Leave a group out of one's own queue, or take it in again."""
        await self._ledger.moderator_settings.hide(who.name, group, hidden=hidden)
        where = "no longer in your queue" if hidden else "in your queue again"
        return _lines(f"Posts against {group.label} are {where}. Nobody else is told.")

    async def settings(self, place: Place) -> CommandAnswer:
        """Say how a server is used."""
        server = self._servers[place.server]
        switched = await self._ledger.moderator_settings.switched(place.surface, place.server)
        return _lines(
            f"Cases go to {server.channel or 'no channel'} unless a rule says otherwise.",
            *(f"Rule: {_criteria(rule)} go to {rule.channel}." for rule in server.rules),
            f"Leads: {len(server.leads)} ids, admins: {len(server.admins)} ids, "
            f"reviewers: {len(server.reviewers)} ids.",
            *(f"{item.kind.capitalize()}: {item.scope}{_until_words(item.until)}, by {item.who}." for item in switched),
        )

    async def export(self, place: Place, who: Moderator, period: str = "4w") -> CommandAnswer:
        """Give the decisions of a period as CSV, without the posts."""
        require_lead(who, "export decisions")
        statistics = await self._ledger.statistics.since(now() - stats.period(period), self._counted(place))
        file = Attachment(f"rejoinder-{now():%Y-%m-%d}.csv", stats.table(statistics.decided))
        summary = f"{len(statistics.decided)} decisions since {_moment(statistics.since)} are in {file.name}."
        return CommandAnswer((summary,), attachment=file)

    async def stats(self, place: Place, period: str = "7d") -> CommandAnswer:
        """Give the figures of a period, with a picture when there is something to draw."""
        shown_on = self._counted(place)
        pending = len(await self._own_cases.list(place.server, CaseQuery(limit=LOOKED_THROUGH))) if shown_on else None
        figures = await stats.figures(self._ledger, stats.period(period), shown_on, pending)
        lines = tuple(stats.in_words(figures).splitlines())
        if not figures.by_intent:
            return CommandAnswer(lines)
        picture = await asyncio.to_thread(stats.picture, figures)
        return CommandAnswer(lines, attachment=Attachment("rejoinder-stats.png", picture))

    async def _open(
        self, place: Place, group: TargetGroup | None, doubtful: bool, hidden: frozenset[TargetGroup] = frozenset()
    ) -> list[Case]:
        query = CaseQuery(group=group, doubtful=doubtful, hidden=hidden, limit=LOOKED_THROUGH)
        return await self._own_cases.list(place.server, query, LOOKED_THROUGH)

    async def _appealed(
        self, place: Place, group: TargetGroup | None, hidden: frozenset[TargetGroup] = frozenset()
    ) -> list[Case]:
        query = CaseQuery(states=(), group=group, appealed=True, hidden=hidden, limit=LOOKED_THROUGH)
        return await self._own_cases.list(place.server, query, LOOKED_THROUGH)

    async def _doubtful(self, place: Place) -> int:
        if self._own_cases.include_all(place.server):
            return await self._desk.doubtful()
        return len(await self._open(place, None, doubtful=True))

    def _counted(self, place: Place) -> tuple[str, str] | None:
        """Return whose cards the figures of a place go by; None where they are of all cases."""
        return None if self._own_cases.include_all(place.server) else (place.surface, place.server)

    async def _mine(self, place: Place, who: Moderator, hidden: frozenset[TargetGroup]) -> list[Case]:
        query = CaseQuery(mine=who.name, hidden=hidden, limit=LOOKED_THROUGH)
        return await self._own_cases.list(place.server, query, LOOKED_THROUGH)

    async def _line(self, case: Case) -> str:
        number = await self._ledger.cards.number(case.key)
        held = f", held by {holder(case)}" if holder(case) else ""
        age = now() - case.received_at
        about = f"in doubt, hate probability {hate_probability(case)}" if case.doubtful else groups_line(case)
        return defuse(f"{number}: {about}, {duration(age)} old, {case.post.platform}{held}", MAX_LINE)

    async def _case(self, place: Place, id: str) -> Case:
        id = id.strip().removeprefix("#")
        if not id:
            raise BadInput("Which case? Give its number, as on its card.")
        return await self._own_cases.find(place.server, id)


def _lines(*lines: str) -> CommandAnswer:
    return CommandAnswer(tuple(defuse(line, 2 * MAX_LINE) for line in lines))


def _scope(kind: ScopeKind, name: str) -> str:
    return "Everywhere on this server" if kind is ScopeKind.SERVER else f"{kind.capitalize()} {name}"


def _criteria(rule: object) -> str:
    named = [str(item) for part in ("groups", "languages", "platforms") for item in getattr(rule, part)]
    return ", ".join(named) or "all cases"


def _until(hours: float | None) -> datetime | None:
    if hours is not None and not 0 < hours <= 24 * 365:
        raise BadInput("The hours must be more than 0 and at most a year's.")
    return None if hours is None else now() + timedelta(hours=hours)


def _until_words(until: datetime | None) -> str:
    return "" if until is None else f" until {_moment(until)}"


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
