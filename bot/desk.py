"""The desk: every rule about who may do what with a case, once, beneath the web page and the chats.

What each action does, and what keeps it from happening (a lead may override what is marked *):

| action  | does                                            | refused when                                   |
|---------|-------------------------------------------------|------------------------------------------------|
| claim   | holds the case for `desk.claim_s`               | another holds it*                              |
| release | lets it go                                      | another holds it*                              |
| approve | sends the newest draft, exactly as it was shown | the text given is another one; a check fails*; |
|         |                                                 | author or thread was answered with it since*   |
| edit    | sends the moderator's text                      | it is empty; a hard check fails*               |
| reject  | closes the case without an answer               | no reason is given                             |
| dismiss | closes it because the post is not hateful       | "other" is given as reason, without words      |
| redraft | asks for another draft, unlike the earlier ones | the case was never triaged and grounded; the   |
|         |                                                 | strategy is not offered here                   |
| undo    | takes a decision back before `release_at`       | the window is over; somebody else decided*     |
| assign  | says who should take care of the case           | it is somebody else's name*                    |

With a case that has ended, and whose undo window is over:

| action    | does                                                           | refused when                    |
|-----------|----------------------------------------------------------------|---------------------------------|
| reopen    | has it drafted, as if nothing had ended it                     | it was released                 |
| hand_over | escalates it to people outside the queue, or on to others      | no reason is given              |
| handle    | notes that somebody has seen to it, or to an appeal against it | there is nothing to see to      |
| retract   | tells the platform to take the reply back, once                | no reason; somebody else's yes* |

Every action names the version it was decided on; when the case has moved on since, StaleVersion says who was faster.
The ledger compares and sets in one transaction, so of two moderators who act at once one wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.permissions import Moderator, approvable_draft, can_be_handled, may_undo, undoable
from bot.reasons import NOT_HATEFUL, stored_reason
from bot.translation import _
from bot.wording import holder, standing
from core.domain import (
    Action,
    Case,
    CaseState,
    Check,
    Decision,
    Draft,
    DraftRequest,
    EventKind,
    Evidence,
    Intent,
    Route,
    StrategyName,
    TargetGroup,
    Transition,
    failed,
    now,
)
from core.errors import BadInput, BadMessage, ClaimedByOther, FailsChecks, Forbidden, NotAllowed, StaleVersion
from core.lifecycle import DECISIONS, EVENTS
from core.settings import DeskSettings
from ledger import CasePage, Ledger, Reopening
from pipeline.guard import Guard, GuardContext, hidden_characters
from stream.messages import Grounded, Triaged, decode, encode

MAX_PAGE = 200
MOST_OF_AUTHOR = 20


@dataclass(frozen=True)
class CaseQuery:
    """The part of the cases to list; a criterion left out does not narrow it.

    `doubtful` True: only those of which a moderator is asked whether they are hateful at all; False: only the others.
    `search` holds words that each listed case has in post, drafts, sent text, key or groups. `mine` is who holds or
    was assigned each listed case; none listed attacks no other groups than `hidden`.
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
    """What stands around a case: its author's other cases, the newest first, those of the same text, the oldest first.

    `rules` are those of its platform, `assignee` is who should take care of it.
    """

    author: tuple[Case, ...]
    same_text: tuple[Case, ...]
    assignee: str | None
    rules: str


class Desk:
    """What moderators see of cases and do with them."""

    def __init__(
        self, ledger: Ledger, guard: Guard, settings: DeskSettings, strategies: Sequence[StrategyName] = ()
    ) -> None:
        self._ledger = ledger
        self._guard = guard
        self.settings = settings
        self.strategies = strategies
        """Those that a redraft may be asked for."""

    async def case(self, key: str) -> Case:
        """Return a case; raises CaseNotFound."""
        return await self._ledger.cases.get(key)

    async def history(self, key: str) -> list[Transition]:
        """Return all that happened to a case, oldest first."""
        return await self._ledger.history.of(key)

    async def queue(self, query: CaseQuery) -> CasePage:
        """Return one page of cases; raises BadInput for a limit out of range or a foreign cursor."""
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
        """Return how many cases stand in each state."""
        return await self._ledger.cases.counts()

    @property
    def moderators(self) -> list[str]:
        """The names of those who may work at this desk, as far as its settings have them."""
        return sorted(name for name, token in self.settings.tokens.items() if token.role not in ("platform", "monitor"))

    async def handled(self) -> int:
        """Return how many of the escalated cases somebody has seen to."""
        return await self._ledger.cases.handled()

    async def appealed(self) -> int:
        """Return against how many cases an appeal waits."""
        return await self._ledger.cases.appealed()

    async def waiting_with_same_text(self, keys: Sequence[str]) -> dict[str, int]:
        """Return for each case how many others with the very same text wait; none for one that stands alone."""
        return await self._ledger.related.waiting_with_same_text(keys)

    async def related(self, key: str) -> RelatedCases:
        """Return what there is to know around a case; raises CaseNotFound."""
        case = await self.case(key)
        return RelatedCases(
            author=tuple(await self._ledger.related.by_author(key, MOST_OF_AUTHOR)),
            same_text=tuple(await self._ledger.related.same_text(key)),
            assignee=await self._ledger.related.assignee(key),
            rules=self.settings.platform_rules.get(case.post.platform, ""),
        )

    async def doubtful(self) -> int:
        """Return how many of the pending cases are in doubt."""
        return await self._ledger.cases.doubtful()

    async def uncovered(self, key: str, who: Moderator) -> None:
        """Record that somebody uncovered a post, where the operator has that recorded; raises CaseNotFound."""
        if self.settings.record_uncovering:
            case = await self.case(key)
            await self._ledger.holdings.record_uncovering(case.key, who.name)

    async def check(self, key: str, text: str) -> tuple[Check, ...]:
        """Return what the guard says about a text a moderator is writing for a case."""
        return await self._checks_of(await self.case(key), text)

    async def decide(self, key: str, decision: Decision, who: Moderator) -> Case:
        """Carry out a decision and return the case as it then is.

        Raises CaseNotFound, StaleVersion, ClaimedByOther, NotAllowed, FailsChecks, Forbidden or BadInput; nothing has
        changed then.
        """
        if decision.override and not who.leads:
            raise Forbidden(_("Only a lead or an admin may override; ask a lead."))
        case = await self.case(key)
        if decision.action is Action.RETRACT and case.retracted_at is not None:
            # Whoever asks again, because the answer was lost, gets what the first call came to.
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
        return await self._carry_out(case, decision, who)

    async def _carry_out(self, case: Case, decision: Decision, who: Moderator) -> Case:
        match decision.action:
            case Action.CLAIM:
                return await self._claim(case, decision, who)
            case Action.RELEASE:
                return await self._ledger.decisions.unclaim(case.key, case.version, who.name, force=decision.override)
            case Action.APPROVE:
                return await self._approve(case, decision, who)
            case Action.EDIT:
                return await self._edit(case, decision, who)
            case Action.REJECT:
                return await self._reject(case, decision, who)
            case Action.DISMISS:
                return await self._dismiss(case, decision, who)
            case Action.REDRAFT:
                return await self._redraft(case, decision, who)
            case Action.UNDO:
                return await self._undo(case, who)
            case Action.ASSIGN:
                return await self._assign(case, decision, who)
            case _:
                return await self._after_the_end(case, decision, who)

    async def _after_the_end(self, case: Case, decision: Decision, who: Moderator) -> Case:
        if undoable(case):
            raise NotAllowed(
                _("This decision can still be undone; do that instead: {standing}", standing=standing(case)), case
            )
        if decision.action is Action.REOPEN:
            return await self._reopen(case, decision, who)
        if decision.action is Action.HANDLE:
            return await self._handle(case, decision, who)
        reason = (decision.reason or "").strip()
        if not reason:
            raise BadInput(
                _("This needs a reason in your own words: to whom a case goes, or why a reply is taken back.")
            )
        if decision.action is Action.HAND_OVER:
            return await self._ledger.closed_cases.hand_over(case.key, case.version, who.name, reason)
        if not may_undo(case, who):
            raise Forbidden(_("{who} approved this reply; only {who} or a lead may retract it.", who=case.decided_by))
        return await self._ledger.closed_cases.retract(case.key, case.version, who.name, reason)

    async def note(self, key: str, text: str, who: Moderator) -> Case:
        """Add a note to a case for whoever looks at it next; raises CaseNotFound, or BadInput for an empty one."""
        return await self._ledger.closed_cases.note(key, who.name, _required(text, _("The note is empty; write one.")))

    async def appeal(self, key: str, text: str, who: str) -> Case:
        """Put a closed case into the queue of appeals; where one waits there already nothing changes.

        Raises CaseNotFound, NotAllowed for a case that is not closed, or BadInput without words.
        """
        words = _required(text, _("An appeal needs words: say in `reason` why the decision is wrong."))
        case = await self.case(key)
        if case.state not in EVENTS[EventKind.APPEAL].takes or undoable(case):
            raise NotAllowed(_("Nothing final is there to appeal against: {standing}", standing=standing(case)), case)
        return await self._ledger.closed_cases.appeal(key, who, words)

    async def add_evidence(self, key: str, piece: Evidence, who: Moderator) -> Case:
        """Put a statement first among a waiting case's evidence, for its next draft and for checks of one's own words.

        Raises CaseNotFound, NotAllowed where the case does not wait, or ClaimedByOther.
        """
        case = await self.case(key)
        if holder(case) not in (None, who.name):
            raise ClaimedByOther(_("{who} holds this case; ask them, or wait.", who=holder(case)), case)
        return await self._ledger.closed_cases.add_evidence(key, who.name, piece)

    async def _claim(self, case: Case, decision: Decision, who: Moderator) -> Case:
        until = now() + timedelta(seconds=self.settings.claim_s)
        return await self._ledger.decisions.claim(case.key, case.version, who.name, until, force=decision.override)

    async def _approve(self, case: Case, decision: Decision, who: Moderator) -> Case:
        draft = approvable_draft(case)
        if draft is None:
            raise BadInput(_("There is no draft to approve; write the reply yourself and send it as an edit."))
        if decision.text is not None and decision.text != draft.text:
            raise BadInput(_("The text to approve is not the draft's; to send another text, use edit."))
        # What a draft on file says about itself is not enough: the checks that need no large model are made again.
        checks = (*await self._checks_of(case, draft.text), *await self._checks_now(case, draft))
        _require_passing(case, checks, decision)
        return await self._send(case, draft.text, f"approved draft {draft.number}", decision, who)

    async def _edit(self, case: Case, decision: Decision, who: Moderator) -> Case:
        text = (decision.text or "").strip()
        if not text:
            raise BadInput(_("The edited text is empty; write the reply, or reject the case."))
        _require_passing(case, await self._checks_of(case, text), decision)
        return await self._send(case, text, "edited", decision, who)

    async def _send(self, case: Case, text: str, why: str, decision: Decision, who: Moderator) -> Case:
        if hidden := sorted(set(hidden_characters(text))):
            raise BadInput(
                _(
                    "The text has characters that can't be seen or that disguise it ({characters}); remove them. "
                    "No override sends them.",
                    characters=", ".join(hidden[:5]),
                )
            )
        overridden = "checks overridden" if decision.override else None
        covered = "the post stayed covered" if decision.uncovered is False else None
        reasons = filter(None, [why, overridden, covered, decision.reason])
        return await self._ledger.decisions.approve(
            case.key, case.version, who.name, text, "; ".join(reasons), self._undo_until(), force=decision.override
        )

    async def _reject(self, case: Case, decision: Decision, who: Moderator) -> Case:
        reason = stored_reason(decision.reason)
        return await self._ledger.decisions.reject(
            case.key, case.version, who.name, reason, self._undo_until(), force=decision.override
        )

    async def _dismiss(self, case: Case, decision: Decision, who: Moderator) -> Case:
        reason = stored_reason(decision.reason or NOT_HATEFUL.code)
        return await self._ledger.decisions.dismiss(
            case.key, case.version, who.name, reason, self._undo_until(), force=decision.override
        )

    async def _redraft(self, case: Case, decision: Decision, who: Moderator) -> Case:
        strategy = decision.strategy
        if strategy is not None and strategy not in self.strategies:
            raise BadInput(
                _(
                    "{strategy} is not offered here; choose one of {strategies}.",
                    strategy=strategy,
                    strategies=", ".join(self.strategies) or _("none"),
                )
            )
        request = DraftRequest(
            number=max(case.request.number, len(case.drafts)) + 1,
            intent=decision.intent or case.request.intent,
            hint=decision.hint,
            avoid=_texts_to_avoid(case),
            strategy=strategy,
        )
        grounded = Grounded.of(case, request)
        if grounded is None:
            raise NotAllowed(_("There is nothing to draft from: the post was never triaged and grounded."), case)
        planned_anew = strategy is not None and strategy != grounded.grounding.plan.strategy
        record = Triaged(post=grounded.post, triage=grounded.triage) if planned_anew else grounded
        message = encode(record)
        try:
            decode(message, type(record))
        except BadMessage as error:
            # A case from before a limit: better no second draft than a case that fails with the first one lost.
            raise BadInput(
                _("No other draft can be asked for, but you can write the reply yourself. {why}", why=error)
            ) from error
        return await self._ledger.decisions.redraft(
            case.key, case.version, who.name, request, message.decode(), force=decision.override,
            to=CaseState.TRIAGED if planned_anew else CaseState.GROUNDED,
        )  # fmt: skip

    async def _undo(self, case: Case, who: Moderator) -> Case:
        if not may_undo(case, who):
            raise Forbidden(_("{who} decided this; only {who} or a lead may undo it.", who=case.decided_by))
        return await self._ledger.decisions.undo(case.key, case.version, who.name)

    async def _assign(self, case: Case, decision: Decision, who: Moderator) -> Case:
        assignee = decision.assignee or who.name
        if assignee != who.name and not who.leads:
            raise Forbidden(_("Only a lead or an admin may assign a case to somebody else."))
        why = f"assigned to {assignee}" + (f": {decision.reason}" if decision.reason else "")
        return await self._ledger.closed_cases.assign(case.key, case.version, who.name, assignee, why)

    async def _reopen(self, case: Case, decision: Decision, who: Moderator) -> Case:
        if case.triage is None:
            raise NotAllowed(_("There is nothing to draft from: the post was never triaged."), case)
        triage = case.triage.model_copy(update={"route": Route.DRAFT})
        request = DraftRequest(
            number=max(case.request.number, len(case.drafts)) + 1,
            intent=decision.intent or case.request.intent,
            hint=decision.hint,
            avoid=_texts_to_avoid(case),
        )
        grounded = Grounded.of(case.model_copy(update={"triage": triage}), request)
        if grounded is None:
            way = Reopening(encode(Triaged(post=case.post, triage=triage)).decode(), triage=triage)
        else:
            way = Reopening(encode(grounded).decode(), request=request, triage=triage)
        why = decision.reason or "opened again"
        return await self._ledger.closed_cases.reopen(case.key, case.version, who.name, why, way)

    async def _handle(self, case: Case, decision: Decision, who: Moderator) -> Case:
        if not can_be_handled(case):
            raise NotAllowed(_("There is nothing to see to: {standing}", standing=standing(case)), case)
        return await self._ledger.closed_cases.handle(case.key, case.version, who.name, decision.reason or "")

    async def _checks_of(self, case: Case, text: str) -> tuple[Check, ...]:
        intent = case.draft.intent if case.draft else Intent.INFORMATIVE
        answered = await self._ledger.replies.near(case.key, approved_only=True)
        context = GuardContext.of(case.post, case.triage, case.grounding, intent, answered)
        return await self._guard.check(text, context)

    async def _checks_now(self, case: Case, draft: Draft) -> tuple[Check, ...]:
        """Return the draft's checks, with a failed `repeat` where author or thread was answered with it since."""
        if draft.text not in await self._ledger.replies.near(case.key, approved_only=True):
            return draft.checks
        detail = "The author or the thread was answered with this text in another case."
        repeated = Check(name="repeat", passed=False, value=1.0, threshold=1.0, detail=detail)
        return (*(check for check in draft.checks if check.name != repeated.name), repeated)

    def _undo_until(self) -> datetime:
        return now() + timedelta(seconds=self.settings.undo_s)


def _required(text: str, complaint: str) -> str:
    if not text.strip():
        raise BadInput(complaint)
    return text.strip()


def _require_passing(case: Case, checks: tuple[Check, ...], decision: Decision) -> None:
    names = list(dict.fromkeys(check.name for check in failed(checks)))
    if names and not decision.override:
        listed = ", ".join(names)
        raise FailsChecks(
            _("The text fails: {checks}. Change it, or let a lead override.", checks=listed), checks, case
        )


def _texts_to_avoid(case: Case) -> tuple[str, ...]:
    """Return the drafts seen so far; the thread is in the post's context, although old requests repeat it."""
    drafts = [draft.text for draft in case.drafts if draft.text]
    return tuple(text for text in dict.fromkeys((*case.request.avoid, *drafts)) if text not in case.post.context)
