"""Draft a reply: have the case's strategy propose, judge the proposals, show the best; if none passes, compose one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.domain import (
    Candidate,
    Draft,
    DraftRequest,
    Duel,
    FlaggedPost,
    Grounding,
    Origin,
    Plan,
    Triage,
    failed,
)
from core.errors import ModelRefused, ModelUnavailable, TooSlow
from kb.addressed import speaks_to_a_model
from pipeline import prompt
from pipeline.guard import Guard, GuardContext, outweighed, unjudged
from pipeline.strategies import Proposal, Proposed, Strategies, Strategy

MOST_KEPT = 16
MOST_KEPT_BYTES = 200_000
"""Most candidates that are kept with a draft, and their most bytes as JSON; a Kafka message may have 1 MB in all."""

UNSURE = "The evidence may not answer this post. If it does, request a draft."
"""The note on a case that has evidence and no first draft."""

_NOTHING = Candidate(text="", origin=Origin.NONE, checks=())


class Drafter:
    """The drafter of replies, with strategies and a guard. Safe to call from many tasks of one event loop.

    The strategy that planned the case proposes; if none of its replies passes, the fallback steps in. A post in doubt
    gets no first draft: a moderator either says that it is not hateful or asks for a draft. Nor does a post that its
    evidence may not answer.
    """

    def __init__(self, strategies: Strategies, guard: Guard) -> None:
        self._strategies = strategies
        self._guard = guard

    async def draft(
        self,
        post: FlaggedPost,
        triage: Triage,
        grounding: Grounding,
        request: DraftRequest,
        *,
        last_attempt: bool = False,
    ) -> Draft:
        """Return the best draft that passes every hard check; origin `none` with a note when there is none.

        Raises ModelUnavailable while the strategy's model is away, so that the caller can wait and try again; on the
        `last_attempt`, a draft is composed instead. If the model refuses, one is composed at once.
        """
        ctx = GuardContext.of(post, triage, _fit_to_read(grounding), request.intent, request.avoid)
        if triage.leaves_in_doubt(request):
            notes = [in_doubt(triage.hate), UNSURE if grounding.is_unsure else ""]
            return _draft(ctx, request, None, [], _joined(notes))
        if grounding.is_unsure and request.number == 1:
            return _draft(ctx, request, None, [], _joined([grounding.plan.note, UNSURE]))
        strategy, fallback = self._strategies.of(grounding.plan), self._strategies.fallback
        judged: list[Candidate] = []
        lacking = _lacking(grounding.plan, strategy)
        proposed = Proposed(note=grounding.plan.note)
        if strategy is not fallback:
            proposed = await self._propose(strategy, ctx, grounding.plan, request, last_attempt)
            judged = await self._judge(strategy, proposed.rounds, ctx)
        best = _best(judged)
        notes = [lacking, proposed.note, _failures(judged)]
        if best is not None:
            return _draft(ctx, request, best, judged, _joined(notes), proposed.duels)
        composed = await self._judge(fallback, (await fallback.propose(ctx, grounding.plan, request)).rounds, ctx)
        best = _best(composed)
        if best is not None and strategy is not fallback and any(notes):
            notes.append(f"So {fallback.name} drafted, not {strategy.name}.")
        notes.append(grounding.note)
        if best is None:
            notes.append(_nothing_fits(ctx, composed))
        elif request.hint and not judged:
            notes.append("The hint was not used: this draft is composed from the evidence.")
        return _draft(ctx, request, best, [*judged, *composed], _joined(notes), proposed.duels)

    async def _propose(
        self, strategy: Strategy, ctx: GuardContext, plan: Plan, request: DraftRequest, last: bool
    ) -> Proposed:
        """Return the proposals of the case's own strategy, or none and a note that says why."""
        try:
            proposed = await strategy.propose(ctx, plan, request)
        except TooSlow as error:
            return Proposed(note=f"{error}.")
        except ModelRefused as error:
            return Proposed(note=f"The language model refused: {str(error).rstrip('.')}.")
        except ModelUnavailable as error:
            if not last:
                raise
            return Proposed(note=f"The language model is away: {str(error).rstrip('.')}.")
        return replace(proposed, note=_joined([plan.note, proposed.note]))

    async def _judge(
        self, strategy: Strategy, rounds: Iterable[Sequence[Proposal]], ctx: GuardContext
    ) -> list[Candidate]:
        """Return judged candidates, up to and including the first round in which one passes."""
        candidates: list[Candidate] = []
        for proposals in rounds:
            verdicts = await self._guard.judge([proposal.text for proposal in proposals], ctx)
            candidates += (
                Candidate(
                    text=proposal.text,
                    origin=proposal.origin,
                    checks=verdict.checks,
                    reward=verdict.reward,
                    strategy=strategy.name,
                    model=proposal.model,
                    claim=proposal.claim,
                    facts=proposal.facts,
                )
                for proposal, verdict in zip(proposals, verdicts, strict=True)
            )
            if _best(candidates) is not None:
                break
        return candidates


def _fit_to_read(grounding: Grounding) -> Grounding:
    """Return a grounding without evidence that speaks to a language model.

    The search leaves it out, but moderators may have added some before its wording was known, or its document changed.
    """
    fit = tuple(piece for piece in grounding.evidence if not speaks_to_a_model(piece))
    return grounding.model_copy(update={"evidence": fit})


def in_doubt(hate: float) -> str:
    """Return the question that a moderator is asked about a post in doubt; `hate` is a probability, 0 to 1."""
    return f"Is this hateful at all? The hate probability is {round(100 * hate)} %."


def bounded(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the first candidates within MOST_KEPT and MOST_KEPT_BYTES; one that no longer fits is skipped."""
    within: list[Candidate] = []
    room = MOST_KEPT_BYTES
    for candidate in candidates:
        size = len(candidate.model_dump_json().encode())
        if size <= room and len(within) < MOST_KEPT:
            within.append(candidate)
            room -= size
    return tuple(within)


def _draft(
    ctx: GuardContext,
    request: DraftRequest,
    best: Candidate | None,
    candidates: list[Candidate],
    note: str,
    duels: tuple[Duel, ...] = (),
) -> Draft:
    shown = best or _NOTHING
    return Draft(
        case_key=ctx.post.key,
        number=request.number,
        text=shown.text,
        intent=ctx.intent,
        origin=shown.origin,
        model=shown.model,
        language=ctx.reply_language,
        checks=shown.checks,
        considered=len(candidates),
        candidates=bounded(sorted(candidates, key=lambda candidate: candidate is not best)),
        duels=duels,
        note=note,
    )


def _best(candidates: Iterable[Candidate]) -> Candidate | None:
    """Return the candidate to show: of those that pass, the best one that no check doubts, or else the best."""
    passing = (candidate for candidate in candidates if candidate.passes)
    return max(passing, key=lambda each: (not outweighed(each.checks), each.reward), default=None)


def _lacking(plan: Plan, strategy: Strategy) -> str:
    """Return what to tell of a plan whose own strategy this worker lacks; empty if it has it, or if none is named."""
    if plan.strategy in ("", strategy.name):
        return ""
    return f"{plan.strategy} is not among the strategies of this worker, so {strategy.name} took its place."


def _failures(candidates: list[Candidate]) -> str:
    """Return, for example, "4 of 4 model drafts failed: stance (3), numbers (1)."; empty when none failed."""
    failing = [candidate for candidate in candidates if not candidate.passes]
    if not failing:
        return ""
    names = Counter(check.name for candidate in failing for check in failed(candidate.checks))
    listed = ", ".join(f"{name} ({count})" for name, count in names.most_common())
    writer = "model drafts" if all(candidate.origin is Origin.MODEL for candidate in candidates) else "drafts"
    return _joined([f"{len(failing)} of {len(candidates)} {writer} failed: {listed}.", _not_judged(failing)])


def _nothing_fits(ctx: GuardContext, composed: list[Candidate]) -> str:
    if composed:
        names = {check.name for candidate in composed for check in failed(candidate.checks)}
        failures = f"Composed replies failed: {', '.join(sorted(names))}."
        return _joined([failures, _not_judged(composed), "Search the evidence or write a reply."])
    language = prompt.language_name(ctx.reply_language)
    return f"No fitting evidence in {language} for this post. Search the evidence or write a reply."


def _not_judged(candidates: Iterable[Candidate]) -> str:
    """Return why a judge gave no answer on one of the candidates; empty if it answered on all."""
    return next(filter(None, (unjudged(candidate.checks) for candidate in candidates)), "")


def _joined(notes: Iterable[str]) -> str:
    return " ".join(note for note in notes if note)
