"""The questions that raters answer about a reply: those of the papers' human studies, in plain words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RatingQuestion:
    """One question with its lowest and highest answer, the meaning of both, and its source."""

    name: str
    text: str
    lowest: int
    highest: int
    low_end: str
    high_end: str
    source: str


QUESTIONS = (
    RatingQuestion("factuality", "Are the facts in the reply right? Look them up if you like.", 1, 5,
                   "wrong, or none where one was needed", "right and to the point", "Damo et al.; F2RL"),
    RatingQuestion("relevance", "Does it answer this very post?", 1, 5,
                   "it could stand under any post", "it answers the post and speaks of the people attacked",
                   "Damo et al.; CoARL's contextual relevance; F2RL's faithfulness"),
    RatingQuestion("persuasiveness", "Could it change the mind of somebody who reads along?", 1, 5,
                   "no", "yes", "Damo et al.'s effectiveness; CoARL's argumentative effectiveness"),
    RatingQuestion("offensiveness", "Is the reply itself offensive?", 1, 5,
                   "not at all", "very", "Damo et al.'s correctness; CoARL's adequacy"),
    RatingQuestion("would_post", "Would you post it?", 0, 1, "no", "yes", "ours"),
)  # fmt: skip
