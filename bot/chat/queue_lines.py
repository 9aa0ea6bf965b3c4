"""A server's waiting cases as lines of text, for those who ask in its chat."""

from __future__ import annotations

from dataclasses import replace

from bot.chat.cards import MAX_LINE, groups_line
from bot.chat.command_answer import CommandAnswer
from bot.chat.defuse import defuse
from bot.chat.own_cases import OwnCases
from bot.chat.place import Place
from bot.desk import CaseQuery, Desk
from bot.permissions import Moderator
from bot.translation import _
from bot.wording import duration, hate_probability, holder
from core.domain import Case, TargetGroup, now
from ledger import Ledger

LISTED = 10
LOOKED_THROUGH = 200


class QueueLines:
    """A server's open cases, one per line."""

    def __init__(self, desk: Desk, ledger: Ledger, own_cases: OwnCases) -> None:
        self._desk = desk
        self._ledger = ledger
        self._own_cases = own_cases

    async def answer(
        self,
        place: Place,
        who: Moderator,
        *,
        group: TargetGroup | None,
        mine: bool,
        doubtful: bool,
        appeals: bool,
    ) -> CommandAnswer:
        """List a server's open cases, oldest first: those in doubt or the others.

        `mine` lists those claimed by or assigned to `who`, in doubt or not; `appeals` lists closed cases with an
        appeal.
        """
        hidden = await self._ledger.moderator_settings.hidden(who.name) if group is None else frozenset()
        if appeals:
            query = CaseQuery(states=(), group=group, appealed=True, hidden=hidden)
        elif mine:
            query = CaseQuery(mine=who.name, hidden=hidden)
        else:
            query = CaseQuery(group=group, doubtful=doubtful, hidden=hidden)
        cases = await self._cases(place, query)
        lines = [await self._line(case) for case in cases[:LISTED]]
        if not lines:
            lines.append(_("Nothing waits for you.") if mine else _("The queue is empty."))
        if len(cases) > LISTED:
            lines.append(_how_many_more(len(cases)))
        if not (mine or doubtful or appeals):
            lines += await self._elsewhere(place)
        return CommandAnswer(tuple(lines))

    async def _elsewhere(self, place: Place) -> list[str]:
        """Return one line each for the appeals and the cases in doubt, which the plain queue does not list."""
        lines = []
        if count := len(await self._cases(place, CaseQuery(states=(), appealed=True))):
            lines.append(_("Appeals: {n}. List them with: {command}", n=count, command="queue appeals"))
        if count := await self._doubtful(place):
            words = _("In doubt, hateful or not: {n}. List them with: {command}", n=count, command="queue doubtful")
            lines.append(words)
        return lines

    async def _doubtful(self, place: Place) -> int:
        if self._own_cases.include_all(place.server):
            return await self._desk.count_doubtful()
        return len(await self._cases(place, CaseQuery(doubtful=True)))

    async def _cases(self, place: Place, query: CaseQuery) -> list[Case]:
        return await self._own_cases.list(place.server, replace(query, limit=LOOKED_THROUGH), LOOKED_THROUGH)

    async def _line(self, case: Case) -> str:
        facts = (
            _("in doubt, hate probability {share}", share=hate_probability(case)) if case.doubtful else
            groups_line(case),
            _("{time} old", time=duration(now() - case.received_at)),
            case.post.platform,
            _("held by {who}", who=holder(case)) if holder(case) else "",
        )  # fmt: skip
        number = await self._ledger.cards.number_of(case.key)
        return defuse(f"{number}: {', '.join(filter(None, facts))}", MAX_LINE)


def _how_many_more(cases: int) -> str:
    more, number = cases - LISTED, _("NUMBER")
    if cases == LOOKED_THROUGH:
        return _("… and {n} or more others. Open one with: {command}", n=more, command=f"case {number}")
    return _("… and {n} more. Open one with: {command}", n=more, command=f"case {number}")
