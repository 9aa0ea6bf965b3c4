"""Name the checks by words whose doubts a judge may lift, and find those that it has lifted."""

from __future__ import annotations

from collections.abc import Iterable

from core.domain import Check

DOUBTFUL = frozenset({"names", "supported"})
"""Checks by words whose doubts may be lifted: words can't tell a free paraphrase from a falsehood."""


def lifted(doubts: Iterable[Check], again: Iterable[Check]) -> list[Check]:
    """Return the stored `doubts` that were made advice and that checks of the same text `again` found the same."""
    repeated = {check.name: check for check in again}
    return [
        doubt
        for doubt in doubts
        if doubt.name in DOUBTFUL
        and not doubt.passed
        and not doubt.hard
        and doubt.name in repeated
        and (doubt.value, doubt.detail) == (repeated[doubt.name].value, repeated[doubt.name].detail)
    ]
