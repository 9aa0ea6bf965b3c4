"""How a check is shown to a moderator, the same on every surface."""

from __future__ import annotations

from typing import Any

from core.domain import Check

_NEAR = 0.1
_SMALLEST_SIZE = 20
"""A whole limit from here on is a size, such as a length; below it is a count, whose neighbour is not "close"."""


def is_close(check: Check) -> bool:
    """Tell whether a check passed, but within a tenth of its limit."""
    limit = abs(check.threshold)
    graded = not limit.is_integer() or limit >= _SMALLEST_SIZE
    return check.passed and graded and abs(check.value - check.threshold) <= _NEAR * limit


def checks_as_json(checks: tuple[Check, ...]) -> list[dict[str, Any]]:
    """Return checks as JSON, each with `close`."""
    return [check.model_dump(mode="json") | {"close": is_close(check)} for check in checks]
