"""The reasons a moderator can give for rejecting a draft or dismissing a post: one list for every menu."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import BadInput


@dataclass(frozen=True)
class Reason:
    """One reason to choose: `code` is stored and counted, `label` is read."""

    code: str
    label: str


NOT_HATEFUL = Reason("not_hateful", "The post needs no answer: it is not hateful")
"""Also what a dismissal says when its moderator says nothing else."""
OTHER = Reason("other", "Something else")
REASONS = (
    NOT_HATEFUL,
    Reason("misread", "The draft misreads the post or whom it attacks"),
    Reason("evidence", "The evidence does not fit"),
    Reason("wrong_fact", "A fact is wrong or not backed by the evidence"),
    Reason("tone", "The tone is wrong"),
    Reason("language", "The language is poor"),
    Reason("amplifies", "An answer would only give the post more reach"),
    Reason("handled", "Already dealt with: removed, reported or answered"),
    OTHER,
)
_CODES = {reason.code for reason in REASONS}


def stored_reason(given: str | None) -> str:
    """Return a reason as it is stored, `code` or `code: words`; words without a code count as `other`.

    Raises BadInput when there is none, or `other` comes without words.
    """
    code, _, words = (given or "").partition(":")
    code, words = code.strip(), words.strip()
    if code not in _CODES:
        code, words = OTHER.code, (given or "").strip()
    if code == OTHER.code and not words:
        raise BadInput("A rejection needs a reason: choose one from the list, or say it in your own words.")
    return f"{code}: {words}" if words else code
