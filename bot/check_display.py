"""How checks are shown to moderators, the same on every surface."""

from __future__ import annotations

from typing import Any

from bot.stored_words import translate_stored
from bot.translation import N_, Wordings, _, number
from core.domain import Check

_NEAR = 0.1
_SMALLEST_SIZE = 20
"""A whole-number limit of at least this is a size, such as a length. A smaller one is a count, for which "close to the
limit" makes no sense."""
_ASKED = Wordings(
    {
        "not_empty": N_("says something"),
        "length": N_("length in characters"),
        "sentences": N_("at most two sentences"),
        "language": N_("the post's language"),
        "characters": N_("plain characters"),
        "mentions": N_("nobody is addressed by name"),
        "links": N_("no links"),
        "markup": N_("no markup"),
        "refusal": N_("no refusal"),
        "leak": N_("no drafting instructions"),
        "echo": N_("doesn't repeat the post"),
        "stance": N_("takes a stand against it"),
        "numbers": N_("figures are backed"),
        "names": N_("names are backed"),
        "supported": N_("stays with the evidence"),
        "overclaim": N_("claims no more than the evidence"),
        "swap": N_("quotes the evidence without exchanging words"),
        "insult": N_("insults nobody"),
        "repeat": N_("unlike earlier drafts and the thread"),
        "evidence": N_("uses the evidence"),
        "toxicity": N_("not toxic"),
        "opposes": N_("stands against the post and harms nobody"),
        "entailed": N_("follows from the evidence"),
        "grounded": N_("says nothing beyond the evidence"),
        "garbled": N_("reads as whole sentences"),
        "topic": N_("speaks of what the post speaks of"),
        "fits": N_("has to do with the post"),
        "overall": N_("fit to show, all checks taken together"),
    }
)
"""What each check requires of a text; checks not listed are shown by their name."""


def is_close(check: Check) -> bool:
    """Tell whether a check passed, but within a tenth of its limit."""
    limit = abs(check.threshold)
    graded = not limit.is_integer() or limit >= _SMALLEST_SIZE
    return check.passed and graded and abs(check.value - check.threshold) <= _NEAR * limit


def label(check: Check) -> str:
    """Return what a check requires, in words."""
    return _ASKED.get(check.name, check.name.replace("_", " "))


def finding(check: Check) -> str:
    """Return the result of a check, for example `close to the limit: doesn't repeat the post (school; 0.47 of 0.5)`."""
    outcome = _("close to the limit") if check.passed else _("fails") if check.hard else _("advice")
    measured = _("{value} of {limit}", value=_rounded(check.value), limit=_rounded(check.threshold))
    return f"{outcome}: {label(check)} ({'; '.join(filter(None, (translate_stored(check.detail), measured)))})"


def _rounded(value: float) -> str:
    """Return a number with three significant digits."""
    return number(float(f"{value:.3g}"))


def checks_as_json(checks: tuple[Check, ...]) -> list[dict[str, Any]]:
    """Return checks as JSON, each with `close`, `label` and, if it failed or was close, `finding`."""
    return [
        check.model_dump(mode="json")
        | {"close": is_close(check), "label": label(check)}
        | {"finding": finding(check) if is_close(check) or not check.passed else ""}
        for check in checks
    ]
