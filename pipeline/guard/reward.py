"""How good a reply is: a weighted sum of what its checks measured and of its nearness to the post."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.domain import Check
from pipeline.guard.material import GuardContext, Material
from pipeline.guard.words import content, words


@dataclass(frozen=True)
class RewardTerm:
    """What one check adds to a reply's reward: `weight` times `merit` of its result, which is 0 to 1."""

    weight: float
    merit: Callable[[Check], float]


def share_reached(check: Check) -> float:
    """Return the value of a check that measures a share, where more is better."""
    return check.value


def room_left(check: Check) -> float:
    """Return how far a value stays below its limit: 1 for a value of 0, 0 from the limit on."""
    return max(0.0, 1 - check.value / (check.threshold or 1))


def relevance(reply: Material, context: GuardContext) -> float:
    """Return the share of the reply's content words that the post, or the claims its evidence answers, contain too."""
    own = content(words(reply.text), reply.language)
    claims = (words(claim) for evidence in context.evidence for claim in evidence.answers)
    topic = reply.post_content.union(*(content(claim, reply.language) for claim in claims))
    return len(own & topic) / len(own) if own else 0.0


EVIDENCE = RewardTerm(0.5, share_reached)
BREVITY = RewardTerm(0.1, room_left)
MARGIN = RewardTerm(0.2 / 3, room_left)
"""What a reply gains by its distance from each of three limits: echo, repetition and toxicity."""
RELEVANCE_WEIGHT = 0.2
"""Weight of `relevance`, which no check measures. With it all weights add up to 1: 0.5 + 0.1 + 3 * 0.2/3 + 0.2."""
