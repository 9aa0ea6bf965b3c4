"""Check that a reply isn't one the thread has seen before."""

from __future__ import annotations

from functools import lru_cache

from core.settings import GuardSettings
from pipeline.guard.material import GuardContext, Material
from pipeline.guard.measurement import Measurement
from pipeline.guard.words import stems, words


def not_repeated(reply: Material, context: GuardContext, settings: GuardSettings) -> Measurement:
    """Check the overlap of word stems (Jaccard) with each earlier reply and each message of the thread."""
    own = stems(words(reply.text), reply.language)
    earlier = (*context.avoid, *context.post.context)
    closest = max((_overlap(own, _stems(text, reply.language)) for text in earlier), default=0.0)
    limit = settings.max_similarity
    detail = f"{closest:.0%} of its words stand in an earlier reply; {limit:.0%} is the limit." if earlier else ""
    return Measurement(passed=closest < limit, value=round(closest, 3), threshold=limit, detail=detail)


@lru_cache(maxsize=1024)
def _stems(text: str, language: str) -> frozenset[str]:
    return stems(words(text), language)


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right) if left | right else 0.0
