"""What a check measures of a reply."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """What was measured of one reply, its limit, and whether it passed; the check adds its name and whether it is hard.

    `advisory` makes the result mere advice, as where a model does not know the language of this reply.
    """

    passed: bool
    value: float
    threshold: float
    detail: str = ""
    advisory: bool = False
