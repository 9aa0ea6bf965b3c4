"""Texts of posts for load tests: mild and clearly fictional."""

from __future__ import annotations

CLAIMS = (
    "Women have no business in parliament, they should leave decisions to the men.",
    "Refugees have no rights here, send the boats back out to sea.",
    "Disabled children should be kept out of normal schools, they hold everyone back.",
    "Nobody discriminates against Muslims, they just complain.",
)


def load_text(number: int) -> str:
    """Return the text of post number `number`: the claims take turns, and each number gives a different text."""
    return f"{CLAIMS[number % len(CLAIMS)]} Reason {number}."
