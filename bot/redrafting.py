"""Another draft for a case: what is asked for, of which stage, and in which message."""

from __future__ import annotations

from dataclasses import dataclass

from bot.translation import _
from core.domain import Case, CaseState, Decision, DraftRequest, Route
from core.errors import BadInput, BadMessage, NotAllowed
from ledger import Reopening
from stream.messages import Grounded, Triaged, decode, encode


@dataclass(frozen=True)
class Redraft:
    """A draft to ask for; `message` goes to the stage that the case moves back `to`."""

    request: DraftRequest
    message: str
    to: CaseState


def planned_redraft(case: Case, decision: Decision) -> Redraft:
    """Return the redraft that a decision asks for; another strategy than the last begins with the evidence.

    Raises NotAllowed for a case that was never grounded, and BadInput where the message would not be read.
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
        # A case from before a limit: better no second draft than a case that fails with the first one lost.
        raise BadInput(
            _("No other draft can be asked for, but you can write the reply yourself. {why}", why=error)
        ) from error
    return Redraft(request, message.decode(), to)


def reopening(case: Case, decision: Decision) -> Reopening:
    """Return how a closed case goes on, as if nothing had ended it; raises NotAllowed for one never triaged."""
    if case.triage is None:
        raise NotAllowed(_("There is nothing to draft from: the post was never triaged."), case)
    triage = case.triage.model_copy(update={"route": Route.DRAFT})
    request = _request(case, decision)
    grounded = Grounded.of(case.model_copy(update={"triage": triage}), request)
    if grounded is not None:
        record, to = _next_message(grounded)
        return Reopening(encode(record).decode(), to, request, triage)
    if decision.intent is None:
        # Still the first request: its intent is chosen when the evidence is found.
        request = request.model_copy(update={"number": case.request.number})
    return Reopening(encode(Triaged(post=case.post, triage=triage)).decode(), CaseState.TRIAGED, request, triage)


def _next_message(grounded: Grounded) -> tuple[Grounded | Triaged, CaseState]:
    """Return the message that has a draft made, and the state of its case; another strategy needs evidence of its own.

    What is asked for then stands with the case.
    """
    strategy = grounded.request.strategy
    if strategy is None or strategy == grounded.grounding.plan.strategy:
        return grounded, CaseState.GROUNDED
    return Triaged(post=grounded.post, triage=grounded.triage), CaseState.TRIAGED


def _request(case: Case, decision: Decision) -> DraftRequest:
    return DraftRequest(
        number=max(case.request.number, len(case.drafts)) + 1,
        intent=decision.intent or case.request.intent,
        hint=decision.hint,
        strategy=decision.strategy,
        avoid=_texts_to_avoid(case),
    )


def _texts_to_avoid(case: Case) -> tuple[str, ...]:
    """Return the drafts seen so far; the thread is in the post's context, although old requests repeat it."""
    drafts = [draft.text for draft in case.drafts if draft.text]
    return tuple(text for text in dict.fromkeys((*case.request.avoid, *drafts)) if text not in case.post.context)
