"""How checks are shown to a moderator, the same on every surface."""

from __future__ import annotations

from typing import Any

from core.domain import Check

_NEAR = 0.1
_SMALLEST_SIZE = 20
"""A whole limit from here on is a size, such as a length; below it is a count, whose neighbour is not "close"."""
_ASKED = {
    "not_empty": "says something",
    "length": "length in characters",
    "sentences": "two sentences",
    "language": "the post's language",
    "characters": "plain characters",
    "mentions": "nobody is addressed by name",
    "links": "no links",
    "markup": "no markup",
    "refusal": "no refusal",
    "leak": "no drafting instructions",
    "echo": "doesn't repeat the post",
    "stance": "takes a stand against it",
    "numbers": "figures are backed",
    "names": "names are backed",
    "supported": "stays with the evidence",
    "overclaim": "claims no more than the evidence",
    "swap": "quotes the evidence without exchanging words",
    "insult": "insults nobody",
    "repeat": "unlike earlier drafts and the thread",
    "evidence": "uses the evidence",
    "toxicity": "not toxic",
    "opposes": "stands against the post and harms nobody",
    "entailed": "follows from the evidence",
}
"""What each check asks of a text; another check is called by its name."""


def is_close(check: Check) -> bool:
    """Tell whether a check passed, but within a tenth of its limit."""
    limit = abs(check.threshold)
    graded = not limit.is_integer() or limit >= _SMALLEST_SIZE
    return check.passed and graded and abs(check.value - check.threshold) <= _NEAR * limit


def label(check: Check) -> str:
    """Return what the check asks, in words."""
    return _ASKED.get(check.name, check.name.replace("_", " "))


def finding(check: Check) -> str:
    """Say how a check went, for example `close to the limit: doesn't repeat the post (school; 0.47 of 0.5)`."""
    outcome = "close to the limit" if check.passed else "fails" if check.hard else "advice"
    measured = f"{check.value:.3g} of {check.threshold:.3g}"
    return f"{outcome}: {label(check)} ({'; '.join(filter(None, (check.detail, measured)))})"


def checks_as_json(checks: tuple[Check, ...]) -> list[dict[str, Any]]:
    """Return checks as JSON, each with `close`, `label` and, where it fails or is close, what was found in words."""
    return [
        check.model_dump(mode="json")
        | {"close": is_close(check), "label": label(check)}
        | {"finding": finding(check) if is_close(check) or not check.passed else ""}
        for check in checks
    ]
