"""Cases as JSON for the API: complete, in a list, or beside another case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from bot.backing import (
    answered_claim,
    awaits_request,
    drafting_strategy,
    marks,
    model_reading,
    used_facts,
    warnings,
    writer,
)
from bot.check_display import checks_as_json
from bot.duels import duel_results, duelling_replies
from bot.permissions import Moderator, allowed, undoable
from bot.stored_words import translate_stored
from core.domain import Case, Transition, now

_LISTED = (
    "state", "version", "received_at", "updated_at", "claimed_by", "claimed_until", "release_at", "handled", "appealed",
)  # fmt: skip


def whole_case(case: Case, history: Sequence[Transition], who: Moderator) -> dict[str, Any]:
    """Return everything that `who` may know about a case, and the actions they may take."""
    evidence = case.grounding.evidence if case.grounding else ()
    fields = case.model_dump(
        mode="json", exclude={"triage": {"embedding", "summed", "reread"}, "grounding": {"plan"}, "drafts": True}
    )
    drafts = [
        draft.model_dump(mode="json", exclude={"candidates"})
        | {"checks": checks_as_json(draft.checks), "writer": writer(draft), "strategy": drafting_strategy(draft)}
        | {"note": translate_stored(draft.note)}
        for draft in case.drafts
    ]
    return {
        "key": case.key, **_with_translated_words(fields),
        "drafts": drafts,
        "answers": answered_claim(case),
        "warnings": warnings(case),
        "marks": {piece.id: marks(piece) for piece in evidence},
        "used": used_facts(case),
        "reading": model_reading(case),
        "duels": (*duelling_replies(case.draft), *duel_results(case.draft)) if case.draft else (),
        "actions": sorted(allowed(case, who)),
        "undoable": undoable(case),
        "doubtful": case.doubtful,
        "awaits_request": awaits_request(case),
        "sample": is_sample(case),
        "history": [_change(change, case) for change in history],
        "now": now().isoformat(),
    }  # fmt: skip


def summary(case: Case, waiting_with_same_text: int = 0) -> dict[str, Any]:
    """Return what a queue shows of a case; never the post's text, which nobody has asked to see yet.

    `waiting_with_same_text` is the number of other pending cases with the same text.
    """
    fields = case.model_dump(mode="json", include=set(_LISTED))
    return {
        "key": case.key,
        "platform": case.post.platform,
        "post_id": case.post.post_id,
        "flagged_at": case.post.flagged_at.isoformat() if case.post.flagged_at else None,
        "groups": [item.model_dump(mode="json") for item in case.triage.groups] if case.triage else [],
        "hate": case.triage.hate if case.triage else None,
        "doubtful": case.doubtful,
        "awaits_request": awaits_request(case),
        "draft": case.draft.text if case.draft else "",
        "origin": case.draft.origin if case.draft else None,
        "draft_number": case.draft.number if case.draft else None,
        "same_text": waiting_with_same_text,
        "sample": is_sample(case),
        **fields,
    }


def related_case(case: Case) -> dict[str, Any]:
    """Return what is shown of a case beside another one: its state, who decided it and why, and the reply."""
    fields = case.model_dump(mode="json", include={"decided_by", "decided_why", "final_text"})
    return {**summary(case), **_with_translated_words(fields)}


def is_sample(case: Case) -> bool:
    """Tell whether a post is a made-up sample: its URL is in `.example`, which no real site can have (RFC 2606)."""
    try:
        host = urlsplit(case.post.url or "").hostname
    except ValueError:
        # Platforms may send any text as the URL; an invalid one must not break the queue's list.
        return False
    return (host or "").endswith(".example")


def _change(change: Transition, case: Case) -> dict[str, Any]:
    """Return a row of the history, for a note together with its text."""
    words = {note.version: note.text for note in case.notes}
    fields = change.model_dump(mode="json", exclude={"case_key"})
    return {**fields, "why": translate_stored(change.why) or words.get(change.version, "")}


def _with_translated_words(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a case's fields with machine-written texts and reasons translated into the current language."""
    translated: dict[str, Any] = {
        name: translate_stored(fields[name]) for name in ("decided_why", "error") if fields.get(name)
    }
    for part, name in (("triage", "reason"), ("grounding", "note")):
        if fields.get(part):
            translated[part] = {**fields[part], name: translate_stored(fields[part][name])}
    return {**fields, **translated}
