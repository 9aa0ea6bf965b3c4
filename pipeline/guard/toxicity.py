"""Check that a reply isn't toxic, with a toxicity model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.domain import Check
from core.settings import GuardSettings
from pipeline.guard.checks import MARGIN
from pipeline.guard.material import GuardContext, Material
from pipeline.guard.reward import RewardTerm

if TYPE_CHECKING:
    from models.toxicity import Toxicity


class ToxicityCheck:
    """A check of the toxicity model's probability for the reply's own words.

    `hard` is what it is at most: in other languages than the model's a result is only advice. Quoted statements are
    left out: they are vetted, and such models take the mere names of groups for harm.
    """

    name = "toxicity"
    hard = True
    reward: RewardTerm | None = MARGIN

    def __init__(self, model: Toxicity, settings: GuardSettings, *, costly: bool = False) -> None:
        self.costly = costly
        self.model = model
        self._limit = settings.max_toxicity

    def check(self, reply: Material) -> Check:
        """Return the result for one reply, in the caller's thread."""
        own = " ".join(part.text for part in reply.parts if not part.quoted)
        score = self.model.score(own) if own else 0.0
        known = reply.language in self.model.languages
        detail = f"Toxicity {score:.0%}; {self._limit:.0%} is the limit."
        if not known:
            detail = f"Toxicity is not known for “{reply.language}”; please read this reply closely."
        return Check(
            name=self.name,
            passed=score < self._limit,
            value=round(score, 4),
            threshold=self._limit,
            hard=known,
            detail=detail,
        )

    async def check_many(self, replies: Sequence[Material], context: GuardContext) -> list[Check]:
        """Return one result a reply, computed off the event loop."""
        return await asyncio.to_thread(lambda: [self.check(reply) for reply in replies])
