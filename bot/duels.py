"""A tournament's duels in words, the same on every surface."""

from __future__ import annotations

from bot.translation import _, number
from core.domain import Draft, Duel


def duelling_replies(draft: Draft) -> tuple[tuple[str, str], ...]:
    """Return the replies that met in duels, each after its number; that of the draft says so: `("1, the draft", …)`."""
    return tuple(
        (_("{n}, the draft", n=place) if text == draft.text else place, text) for text, place in _numbers(draft).items()
    )


def duel_results(draft: Draft) -> tuple[tuple[str, str], ...]:
    """Return which replies met in each duel, by number, and what came of it: `("1 – 2", "7 to 5: 1 wins")`."""
    numbers = _numbers(draft)
    return tuple(_result(duel, numbers[duel.first], numbers[duel.second]) for duel in draft.duels)


def _numbers(draft: Draft) -> dict[str, str]:
    """Return the number of each reply, from 1."""
    replies = dict.fromkeys(text for duel in draft.duels for text in (duel.first, duel.second))
    return {text: str(place) for place, text in enumerate(replies, start=1)}


def _result(duel: Duel, first: str, second: str) -> tuple[str, str]:
    ours, theirs = map(sum, zip(*filter(None, (duel.in_order, duel.turned)), strict=True))
    outcome = _("a tie") if ours == theirs else _("{n} wins", n=first if ours > theirs else second)
    met = _scores(duel.in_order)
    if duel.turned:
        met = _("{scores}, in the other order {turned}", scores=met, turned=_scores(duel.turned))
    return f"{first} – {second}", f"{met}: {outcome}"


def _scores(scores: tuple[float, float]) -> str:
    first, second = scores
    return _("{first} to {second}", first=number(first), second=number(second))
