"""What a draft is based on and what a moderator should check, in the same words on every surface."""

from __future__ import annotations

from bot.translation import N_, Wordings, _, language_name, ngettext, percent
from core.domain import Candidate, Case, CaseState, Draft, Evidence, Origin, Plan

SURELY_HATEFUL = 0.5
"""Hate probability below which a moderator is asked to check first whether the post is hateful."""
FRAME_NAMES = Wordings(
    {
        "offensiveness": N_("offensiveness"),
        "target group": N_("target group"),
        "speaker intent": N_("speaker intent"),
        "power dynamics": N_("power dynamics"),
        "implication": N_("implication"),
        "emotional reaction": N_("emotional reaction"),
        "cognitive reaction": N_("cognitive reaction"),
    }
)
"""The names of the frames in which `intent-frames` has a post read."""


def answered_claim(case: Case) -> str:
    """Return the post's claim that the newest draft answers, for example "Migrants take work away."; may be empty."""
    claim = _shown(case.draft).claim if case.draft and case.grounding else ""
    claims = case.grounding.claims if case.grounding else ()
    return next((item.gist for item in claims if item.id == claim), "")


def writer(draft: Draft) -> str:
    """Return who wrote a draft: words on file, the evidence itself, or the model, by name."""
    if draft.origin is Origin.MODEL:
        return _("written by the model {model}", model=draft.model or "").strip()
    if draft.origin is Origin.NONE:
        return _("no draft")
    return _("words on file") if _shown(draft).claim else _("composed from the evidence")


def drafting_strategy(draft: Draft) -> str:
    """Return the name of the strategy that made a draft; empty if it was not recorded."""
    return _shown(draft).strategy


def model_reading(case: Case) -> tuple[tuple[str, str], ...]:
    """Return a model's readings of the post, each with its name; they are no one's judgement."""
    plan = case.grounding.plan if case.grounding else Plan()
    voted = f"{plan.counter_claim} ({_votes(plan)})" if plan.voted else ""
    chosen = ((_("counter-claim chosen"), voted),) if voted else ()
    return (*chosen, *((FRAME_NAMES.get(frame.name, frame.name), frame.reading) for frame in plan.frames))


def _votes(plan: Plan) -> str:
    votes = max(claim.votes for claim in plan.voted)
    return ngettext("{n} vote", "{n} votes", votes)


def used_facts(case: Case) -> dict[str, str]:
    """Return the evidence that the newest draft quotes word for word: id -> that it does and why this statement."""
    shown, evidence = _shown(case.draft), case.grounding.evidence if case.grounding else ()
    return {piece.id: _why_used(piece, shown) for piece in evidence if piece.id in shown.facts}


def _why_used(evidence: Evidence, shown: Candidate) -> str:
    if shown.claim and shown.claim in evidence.claims:
        return _("the draft says this: on file against the claim")
    if shown.origin is Origin.MODEL:
        return _("the draft says this: chosen by the model")
    return _("the draft says this")


def marks(evidence: Evidence) -> tuple[str, ...]:
    """Return what to know about a statement before relying on it; its region comes last."""
    conditions = (
        (evidence.strength == "fair", _("contested or one study")),
        (evidence.secondhand, _("second-hand")),
        (evidence.provisional, _unread(evidence.language)),
        (bool(evidence.region), evidence.region),
    )
    return tuple(words for applies, words in conditions if applies)


def _unread(language: str) -> str:
    """Return the words for "no speaker of the language has read this text on file"."""
    return _("not yet read by a speaker ({language})", language=language)


def warnings(case: Case) -> tuple[str, ...]:
    """Return what may be wrong with a draft that waits for a decision, one sentence each; empty for other cases."""
    draft = case.draft
    if case.state is not CaseState.PENDING or case.doubtful or draft is None or not draft.text:
        return ()
    return tuple(filter(None, (_hate_warning(case), _writer_warning(case, draft), *_text_warnings(case, draft))))


def _hate_warning(case: Case) -> str:
    if case.triage is None or case.triage.hate >= SURELY_HATEFUL:
        return ""
    return _("The hate probability is only {share}: is this hateful at all?", share=percent(case.triage.hate))


def _writer_warning(case: Case, draft: Draft) -> str:
    if draft.origin is Origin.MODEL:
        return _("A model wrote this: compare every statement with the evidence.")
    if not answered_claim(case):
        return _("No claim on file fits this post: make sure that the reply answers it.")
    if case.grounding and case.grounding.is_unsure:
        return _("The evidence may not answer this post.")
    return ""


def awaits_request(case: Case) -> bool:
    """Tell whether a case has evidence but no draft until a moderator finds that it fits and requests one."""
    if case.state is not CaseState.PENDING or case.doubtful or case.grounding is None:
        return False
    return case.grounding.is_unsure and case.draft is not None and case.draft.origin is Origin.NONE


def _text_warnings(case: Case, draft: Draft) -> list[str]:
    """Return warnings about the draft's facts and counter-claim."""
    facts = [piece for piece in case.grounding.evidence if piece.id in used_facts(case)] if case.grounding else []
    claims = case.grounding.claims if case.grounding else ()
    counters = [counter for claim in claims for counter in claim.counter_claims if counter.text in draft.text]
    conditions = (
        (any(fact.strength == "fair" for fact in facts), _("Its fact is contested or rests on one study.")),
        (any(fact.secondhand for fact in facts), _("Its fact is second-hand: a report tells what the source says.")),
        (
            any(fact.provisional for fact in facts) or any(counter.provisional for counter in counters),
            _("No speaker of {language} has read its words on file yet.", language=language_name(draft.language)),
        ),
    )
    return [sentence for applies, sentence in conditions if applies]


def _shown(draft: Draft | None) -> Candidate:
    """Return the candidate that became the draft, which comes first; an empty candidate if none was kept."""
    first = draft.candidates[0] if draft and draft.candidates else None
    if first is not None and draft is not None and first.text == draft.text:
        return first
    return Candidate(text="", origin=Origin.NONE, checks=())
