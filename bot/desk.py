"""The desk: what moderators can see and do, implemented once for the web page and the chats.

Every action names the version it was decided on. If the case has moved on since, StaleVersion tells who was faster. The
ledger compares and sets in one transaction, so of two concurrent decisions one wins. `bot.deciding` defines what each
decision does and when it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.deciding import DecisionRules
from bot.permissions import Moderator, undoable
from bot.translation import _
from bot.wording import holder, standing
from core.domain import (
    Action,
    Case,
    CaseState,
    Check,
    Decision,
    EventKind,
    Evidence,
    StrategyName,
    TargetGroup,
    Transition,
)
from core.errors import BadInput, ClaimedByOther, Forbidden, NotAllowed, StaleVersion
from core.lifecycle import DECISIONS, EVENTS
from core.settings import DeskSettings
from ledger import CasePage, Ledger
from pipeline.guard import Guard

MAX_PAGE = 200
MOST_OF_AUTHOR = 20


@dataclass(frozen=True)
class CaseQuery:
    """A selection of cases; an omitted criterion matches all.

    - `doubtful`: True for only those that a moderator must first judge hateful or not, False for only the others.
    - `search`: words that must all occur in post, drafts, approved text, key or groups.
    - `mine`: only cases claimed by or assigned to this moderator.
    - `hidden`: cases that attack none but these groups are left out.
    """

    states: tuple[CaseState, ...] = (CaseState.PENDING,)
    group: TargetGroup | None = None
    platform: str | None = None
    claimed_by: str | None = None
    mine: str | None = None
    doubtful: bool | None = None
    handled: bool | None = None
    appealed: bool | None = None
    hidden: frozenset[TargetGroup] = frozenset()
    search: str = ""
    limit: int = 50
    cursor: str | None = None
    oldest_first: bool = True


@dataclass(frozen=True)
class RelatedCases:
    """The context of a case: its author's other cases, newest first, and cases with the same text, oldest first.

    `rules` are those of its platform; `assignee` is the moderator to whom it is assigned.
    """

    author: tuple[Case, ...]
    same_text: tuple[Case, ...]
    assignee: str | None
    rules: str


class Desk:
    """What moderators can see of cases and do with them."""

    def __init__(
        self, ledger: Ledger, guard: Guard, settings: DeskSettings, strategies: Sequence[StrategyName] = ()
    ) -> None:
        self._ledger = ledger
        self._guard = guard
        self.settings = settings
        self.strategies = strategies
        """The strategies that a redraft may request."""

    @property
    def _rules(self) -> DecisionRules:
        return DecisionRules(self._ledger, self._guard, self.settings, self.strategies)

    async def case(self, key: str) -> Case:
        """Return a case. Raises CaseNotFound."""
        return await self._ledger.cases.get(key)

    async def history(self, key: str) -> list[Transition]:
        """Return everything that happened to a case, oldest first."""
        return await self._ledger.history.of(key)

    async def queue(self, query: CaseQuery) -> CasePage:
        """Return one page of cases. Raises BadInput for a limit out of range or an invalid cursor."""
        if not 1 <= query.limit <= MAX_PAGE:
            raise BadInput(f"limit is {query.limit}; it may be 1 to {MAX_PAGE}.")
        return await self._ledger.cases.page(
            states=query.states,
            group=query.group,
            platform=query.platform,
            claimed_by=query.claimed_by,
            mine=query.mine,
            doubtful=query.doubtful,
            handled=query.handled,
            appealed=query.appealed,
            hidden=query.hidden,
            search=query.search,
            limit=query.limit,
            cursor=query.cursor,
            oldest_first=query.oldest_first,
        )

    async def counts(self) -> dict[CaseState, int]:
        """Return the number of cases in each state."""
        return await self._ledger.cases.counts()

    @property
    def moderators(self) -> list[str]:
        """Return the names of the moderators that the desk's settings define."""
        return sorted(name for name, token in self.settings.tokens.items() if token.role not in ("platform", "monitor"))

    async def count_handled(self) -> int:
        """Return how many escalated cases somebody has dealt with."""
        return await self._ledger.cases.count_handled()

    async def count_appealed(self) -> int:
        """Return how many cases have an appeal that waits for an answer."""
        return await self._ledger.cases.count_appealed()

    async def waiting_with_same_text(self, keys: Sequence[str]) -> dict[str, int]:
        """Return key -> number of other pending cases with the same text; cases without any are left out."""
        return await self._ledger.related.waiting_with_same_text(keys)

    async def related(self, key: str) -> RelatedCases:
        """Return the context of a case. Raises CaseNotFound."""
        case = await self.case(key)
        return RelatedCases(
            author=tuple(await self._ledger.related.by_author(key, MOST_OF_AUTHOR)),
            same_text=tuple(await self._ledger.related.same_text(key)),
            assignee=await self._ledger.related.assignee(key),
            rules=self.settings.platform_rules.get(case.post.platform, ""),
        )

    async def count_doubtful(self) -> int:
        """Return how many of the pending cases are in doubt."""
        return await self._ledger.cases.count_doubtful()

    async def record_uncovering(self, key: str, who: Moderator) -> None:
        """Record that somebody uncovered a post, if the operator has turned this on. Raises CaseNotFound."""
        if self.settings.record_uncovering:
            case = await self.case(key)
            await self._ledger.holdings.record_uncovering(case.key, who.name)

    async def check(self, key: str, text: str) -> tuple[Check, ...]:
        """Return the guard's checks of a text that a moderator is writing for a case."""
        return await self._rules.checks_to_send(await self.case(key), text)

    async def decide(self, key: str, decision: Decision, who: Moderator) -> Case:
        """Carry out a decision and return the case afterwards.

        Raises CaseNotFound, StaleVersion, ClaimedByOther, NotAllowed, FailsChecks, Forbidden or BadInput, and then
        changes nothing.
        """
        if decision.override and not who.leads:
            raise Forbidden(_("Only a lead or an admin may override; ask a lead."))
        case = await self.case(key)
        if decision.action is Action.RETRACT and case.retracted_at is not None:
            # A repeated request, after a lost answer, gets the result of the first.
            return case
        if case.version != decision.version:
            raise StaleVersion(
                _(
                    "You saw version {seen}; the case is at version {version}: {standing}",
                    seen=decision.version,
                    version=case.version,
                    standing=standing(case),
                ),
                case,
            )
        if case.state not in DECISIONS[decision.action].takes:
            raise NotAllowed(_("Too late or too early for this: {standing}", standing=standing(case)), case)
        return await self._rules.carry_out(case, decision, who)

    async def note(self, key: str, text: str, who: Moderator) -> Case:
        """Add a note for the next person who looks at a case. Raises CaseNotFound, or BadInput if it is empty."""
        return await self._ledger.casework.note(key, who.name, _required(text, _("The note is empty; write one.")))

    async def appeal(self, key: str, text: str, who: str) -> Case:
        """Put a closed case into the queue of appeals; if one is already waiting, nothing changes.

        Raises CaseNotFound, NotAllowed for a case that is not closed, or BadInput without a reason.
        """
        words = _required(text, _("An appeal needs words: say in `reason` why the decision is wrong."))
        case = await self.case(key)
        if case.state not in EVENTS[EventKind.APPEAL].takes or undoable(case):
            raise NotAllowed(_("Nothing final is there to appeal against: {standing}", standing=standing(case)), case)
        return await self._ledger.casework.appeal(key, who, words)

    async def add_evidence(self, key: str, piece: Evidence, who: Moderator) -> Case:
        """Put a statement first among a pending case's evidence, for its next draft and for checks of edits.

        Raises CaseNotFound, NotAllowed if the case is not pending, or ClaimedByOther.
        """
        case = await self.case(key)
        if holder(case) not in (None, who.name):
            raise ClaimedByOther(_("{who} holds this case; ask them, or wait.", who=holder(case)), case)
        return await self._ledger.casework.add_evidence(key, who.name, piece)


def _required(text: str, complaint: str) -> str:
    if not text.strip():
        raise BadInput(complaint)
    return text.strip()
