"""Another draft for a case: the request, the stage it goes to, and the message."""

from __future__ import annotations

from dataclasses import dataclass

from bot.translation import _
from core.domain import Case, CaseState, Decision, DraftRequest, Route
from core.errors import BadInput, BadMessage, NotAllowed
from ledger import Reopening
from stream.messages import Grounded, Triaged, decode, encode


@dataclass(frozen=True)
class Redraft:
    """A draft to request; `message` goes to the stage that takes cases in the state `to`."""

    request: DraftRequest
    message: str
    to: CaseState


def planned_redraft(case: Case, decision: Decision) -> Redraft:
    """Return the redraft that a decision requests; a change of strategy starts with a new search for evidence.

    Raises NotAllowed for a case that was never grounded, BadInput if the message would be too large to read.
    """
    request = _request(case, decision)
    grounded = Grounded.of(case, request)
    if grounded is None:
        raise NotAllowed(_("There is nothing to draft from: the post was never triaged and grounded."), case)
    record, to = _next_message(grounded)
    message = encode(record)
    try:
        decode(message, type(record))
    except BadMessage as error:
        # A case older than a size limit: refuse the second draft, because the case would fail and its first one be
        # lost.
        raise BadInput(
            _("No other draft can be asked for, but you can write the reply yourself. {why}", why=error)
        ) from error
    return Redraft(request, message.decode(), to)


def reopening(case: Case, decision: Decision) -> Reopening:
    """Return how a closed case continues, as if it had never ended. Raises NotAllowed if it was never triaged."""
    if case.triage is None:
        raise NotAllowed(_("There is nothing to draft from: the post was never triaged."), case)
    triage = case.triage.model_copy(update={"route": Route.DRAFT})
    request = _request(case, decision)
    grounded = Grounded.of(case.model_copy(update={"triage": triage}), request)
    if grounded is not None:
        record, to = _next_message(grounded)
        return Reopening(encode(record).decode(), to, request, triage)
    if decision.intent is None:
        # This remains the first request, so that the ground stage chooses its intent.
        request = request.model_copy(update={"number": case.request.number})
    record = Triaged(post=case.post, triage=triage, number=request.number)
    return Reopening(encode(record).decode(), CaseState.TRIAGED, request, triage)


def _next_message(grounded: Grounded) -> tuple[Grounded | Triaged, CaseState]:
    """Return the message that leads to the draft, and the case's new state; another strategy needs other evidence.

    In the second case the request is stored with the case, and the ground stage reads it there.
    """
    strategy = grounded.request.strategy
    if strategy is None or strategy == grounded.grounding.plan.strategy:
        return grounded, CaseState.GROUNDED
    triaged = Triaged(post=grounded.post, triage=grounded.triage, number=grounded.request.number)
    return triaged, CaseState.TRIAGED


def _request(case: Case, decision: Decision) -> DraftRequest:
    return DraftRequest(
        number=max(case.request.number, len(case.drafts)) + 1,
        intent=decision.intent or case.request.intent,
        hint=decision.hint,
        strategy=decision.strategy,
        avoid=_texts_to_avoid(case),
    )


def _texts_to_avoid(case: Case) -> tuple[str, ...]:
    """Return the drafts seen so far, without texts of the thread, which old requests repeat from the post's context."""
    drafts = [draft.text for draft in case.drafts if draft.text]
    return tuple(text for text in dict.fromkeys((*case.request.avoid, *drafts)) if text not in case.post.context)
