"""Replies of all other strategies, refined by simulated annealing and then matched in duels: after CODEOFCONDUCT."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from core.domain import DraftRequest, Duel, FlaggedPost, Plan, Triage
from core.errors import ModelRefused
from core.settings import TournamentSettings
from models.chat import ChatModel
from pipeline.answers import place
from pipeline.guard import GuardContext
from pipeline.strategies.annealing import Annealing, Scored
from pipeline.strategies.budget import Budget, BudgetedChat, BudgetSpent
from pipeline.strategies.judging import DUEL_TOKENS, ReplyJudge
from pipeline.strategies.replying import Writer
from pipeline.strategies.strategy import Proposal, Proposed, Strategy, together

PLANNING = 1 / 3
"""Share of the budget that planning may use."""
DUELLING = 1 / 3
"""Share of the writing time that is reserved for the duels."""

MakeEntrants = Callable[[ChatModel | None], Sequence[Strategy]]
"""Returns the strategies that enter replies, given the model that they may ask."""


@dataclass(frozen=True)
class TournamentStrategy:
    """Replies of all other strategies, scored and refined by annealing; the best six meet in duels, each pair twice.

    From "CODEOFCONDUCT at Multilingual Counterspeech Generation" (digest, section 3, algorithms 1 to 3).

    Kept from the paper:

    - the loop with its rising temperature, which is the base of the odds (T to the power of the score), so that choice
      gets greedier
    - variants have random words appended; k of them are drawn, and a new reply is written from each
    - at most 8 rounds, 6 kept, an end at a score of 9
    - the round robin of the best 6, with every pair in both orders, ranked by mean score; ranks 1 to 4 go on

    Changed:

    - replies of the other strategies are the start, not background knowledge alone
    - words come from the post and its evidence, those of at least four letters; the paper draws from a list of the
      language, which it does not give, and from the post's tokens
    - one chat model writes and judges
    - the loop scores a reply by itself, as the paper names no opponent
    - the kept are cut to k after each round, as the paper's stated cost supposes
    - drafts with appended words stay out of the pool
    - the guard takes the place of the check of whole runs
    - a budget of seconds and tokens, a third of it for planning, ends each phase; the duels' share is kept back, and
      where nothing is left for a duel, the loop's score ranks

    Cost at most: plan 14 requests, 940 tokens; draft 1333 requests, 4000 tokens.
    """

    writer: Writer
    settings: TournamentSettings
    entrants: MakeEntrants

    name = "tournament"
    plans_with_model = True
    writes_with_model = True

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        """Return the plans of the strategies that ask a model for theirs, merged into one; one that fails is left out.

        If the model refuses them all, raises the last one's error.
        """
        if self.writer.chat is None:
            return Plan(strategy=self.name)
        plan = Plan(strategy=self.name)
        refused = 0
        async with self.writer.turns.turn(self.name):
            budget = Budget(self.settings.seconds * PLANNING, int(self.settings.tokens * PLANNING))
            entrants = self.entrants(BudgetedChat(self.writer.chat, budget))
            planners = [entrant for entrant in entrants if entrant.plans_with_model]
            for planner in planners:
                try:
                    plan = _merged(plan, await planner.plan(post, triage))
                except ModelRefused as error:
                    refused += not isinstance(error, BudgetSpent)
                    if refused == len(planners):
                        raise
                    plan = _merged(plan, Plan(note=f"{planner.name} did not plan: {error}."))
        return plan

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> Proposed:
        """Return the best replies, each as a round, and the duels; nothing without a model or evidence."""
        if self.writer.chat is None or not context.evidence:
            return Proposed(note=f"{self.name} lacks a model or evidence.")
        size = self.settings.pool
        async with self.writer.turns.turn(self.name):
            budget = Budget(self.settings.seconds * (1 - PLANNING), int(self.settings.tokens * (1 - PLANNING)))
            requests = size * (size - 1) // (1 if self.settings.both_orders else 2)
            entry = budget.part(budget.seconds * DUELLING, requests * DUEL_TOKENS)
            pool = await self._pool(BudgetedChat(self.writer.chat, budget, entry), context, plan, request)
            judge = ReplyJudge(BudgetedChat(self.writer.chat, budget), context, self.settings.evidence)
            duels = await self._duels(judge, pool)
        ranked = _ranked(pool, duels)[: self.settings.ranks]
        rounds = tuple((scored.proposal,) for scored in ranked)
        spent = not entry.allows(self.settings.max_tokens)
        return Proposed(rounds, _report(pool, duels, spent=spent), tuple(duels))

    async def _pool(
        self, refining: ChatModel, context: GuardContext, plan: Plan, request: DraftRequest
    ) -> list[Scored]:
        """Return the replies that meet in duels, best first, as far as time and tokens allow."""
        judge = ReplyJudge(refining, context, self.settings.evidence)
        annealing = Annealing(
            replace(self.writer, chat=refining), judge, self.settings, context, request.hint,
            random.Random(place(f"{context.post.key}/{request.number}")),
        )  # fmt: skip
        entered = await self._entered(refining, context, plan, request)
        scored = await annealing.run(entered)
        return sorted(scored, key=lambda item: -item.score)[: self.settings.pool]

    async def _entered(
        self, chat: ChatModel, context: GuardContext, plan: Plan, request: DraftRequest
    ) -> list[Proposal]:
        """Return the first round of each other strategy, equal texts once; a strategy that fails enters nothing."""
        entered: dict[str, Proposal] = {}
        for entrant in self.entrants(chat):
            try:
                proposed = await entrant.propose(context, plan, request)
            except ModelRefused:
                continue
            for proposal in proposed.first_round:
                if proposal.text:
                    entered.setdefault(proposal.text, proposal)
        return list(entered.values())

    async def _duels(self, judge: ReplyJudge, pool: Sequence[Scored]) -> list[Duel]:
        """Return the duels of all pairs, as far as the budget allows; one whose scores can't be read is left out."""
        duels: list[Duel] = []
        for first, second in combinations([scored.proposal.text for scored in pool], 2):
            try:
                duel = await self._duel(judge, first, second)
            except BudgetSpent:
                break
            if duel:
                duels.append(duel)
        return duels

    async def _duel(self, judge: ReplyJudge, first: str, second: str) -> Duel | None:
        """Return the duel of a pair, in both orders or in one; None if its scores can't be read."""
        if not self.settings.both_orders:
            scores = await judge.compare(first, second)
            return Duel(first=first, second=second, in_order=scores) if scores else None
        in_order, turned = await together(judge.compare(first, second), judge.compare(second, first))
        if not in_order or not turned:
            return None
        return Duel(first=first, second=second, in_order=in_order, turned=(turned[1], turned[0]))


def _merged(plan: Plan, other: Plan) -> Plan:
    """Return a plan with what either has; where both have something, the first one's is kept."""
    return plan.model_copy(
        update={
            "counter_claim": plan.counter_claim or other.counter_claim,
            "voted": plan.voted or other.voted,
            "queries": plan.queries or other.queries,
            "paragraphs": max(plan.paragraphs, other.paragraphs),
            "frames": plan.frames or other.frames,
            "note": " ".join(filter(None, [plan.note, other.note])),
        }
    )


def _ranked(pool: Sequence[Scored], duels: Sequence[Duel]) -> list[Scored]:
    """Return the pool by mean score over all duels; replies without a duel come last, by their own score."""
    results: dict[str, list[float]] = {scored.proposal.text: [] for scored in pool}
    for duel in duels:
        for first, second in filter(None, (duel.in_order, duel.turned)):
            results[duel.first].append(first)
            results[duel.second].append(second)

    def mean(scored: Scored) -> float:
        scores = results[scored.proposal.text]
        return sum(scores) / len(scores) if scores else scored.score

    return sorted(pool, key=lambda scored: (not results[scored.proposal.text], -mean(scored)))


def _report(pool: Sequence[Scored], duels: Sequence[Duel], *, spent: bool) -> str:
    pairs = len(pool) * (len(pool) - 1) // 2
    if len(pool) < 2:
        why = "its time or tokens were spent before the model wrote another" if spent else "the model wrote no other"
        return f"No duel was held, with {len(pool) or 'no'} reply to judge: {why}."
    if len(duels) < pairs:
        return f"The tournament ended after {len(duels)} of {pairs} duels: its budget was spent or a score unreadable."
    if any(duel.turned is None for duel in duels):
        return f"Chosen of {len(pool)} replies in {pairs} duel{'' if pairs == 1 else 's'}, each judged once."
    report = f"Chosen of {len(pool)} replies in {pairs} duel{'' if pairs == 1 else 's'}, each judged in both orders."
    swayed = sum(map(_depends_on_order, duels))
    return f"{report} In {swayed} of them whoever was shown first, or second, won both times." if swayed else report


def _depends_on_order(duel: Duel) -> bool:
    """Tell whether the judge favoured a position rather than a reply; False if it was asked in one order only."""
    (first, second), (first_when_second, second_when_first) = duel.in_order, duel.turned or duel.in_order
    return (first - second) * (first_when_second - second_when_first) < 0
