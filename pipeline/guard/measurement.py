"""The measurement that a check makes of a reply."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """The value measured of one reply, its limit, and whether the reply passed; the check adds its name and `hard`.

    `advisory` makes the result advice only, for example where a model does not know the reply's language.
    """

    passed: bool
    value: float
    threshold: float
    detail: str = ""
    advisory: bool = False
