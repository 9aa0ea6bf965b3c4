"""The reasons for rejecting a draft or dismissing a post: one list for all menus."""

from __future__ import annotations

from dataclasses import dataclass

from bot.translation import N_, _
from core.errors import BadInput


@dataclass(frozen=True)
class Reason:
    """One reason: `code` is stored and counted; `words` is its English text, `label` the translated one."""

    code: str
    words: str

    @property
    def label(self) -> str:
        """The text for menus, in the current language."""
        return _(self.words)


NOT_HATEFUL = Reason("not_hateful", N_("The post needs no answer: it is not hateful"))
"""Also the default reason of a dismissal."""
OTHER = Reason("other", N_("Something else"))
REASONS = (
    NOT_HATEFUL,
    Reason("misread", N_("The draft misreads the post or whom it attacks")),
    Reason("evidence", N_("The evidence does not fit")),
    Reason("wrong_fact", N_("A fact is wrong or not backed by the evidence")),
    Reason("tone", N_("The tone is wrong")),
    Reason("language", N_("The language is poor")),
    Reason("amplifies", N_("An answer would only give the post more reach")),
    Reason("handled", N_("Already dealt with: removed, reported or answered")),
    OTHER,
)
_CODES = {reason.code for reason in REASONS}


def reason_words(stored: str) -> str:
    """Return a stored reason in the current language; text without a known code stays as it is."""
    code, _colon, words = (part.strip() for part in stored.partition(":"))
    reason = next((reason for reason in REASONS if reason.code == code), None)
    if reason is None:
        return stored
    if reason is OTHER:
        return words or reason.label
    return f"{reason.label}: {words}" if words else reason.label


def stored_reason(given: str | None) -> str:
    """Return a reason as stored, `code` or `code: words`; words without a code count as `other`.

    Raises BadInput if there is no reason, or `other` without words.
    """
    code, *after_colon = (part.strip() for part in (given or "").split(":", 1))
    words = "".join(after_colon)
    if code not in _CODES:
        code, words = OTHER.code, (given or "").strip()
    if code == OTHER.code and not words:
        raise BadInput(_("A rejection needs a reason: choose one from the list, or say it in your own words."))
    return f"{code}: {words}" if words else code
