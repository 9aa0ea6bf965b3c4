"""Stance (FH): whether a draft opposes the post."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from core.domain import FlaggedPost
from core.settings import GuardSettings
from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.records import Sample
from pipeline.guard.material import GuardContext, material
from pipeline.guard.stance import takes_stance


class Stance(Metric):
    """Whether the guard's cues find that a draft opposes the post and endorses nothing of it."""

    card = MetricCard(
        name="stance",
        label="FH (cues)",
        source="F2RL's FH and CoARL's PC ask a trained stance model; here the guard's cue words and patterns",
        formula="1 where the draft refutes, questions, corrects or speaks up for rights, and never agrees, else 0",
        lowest=0,
        highest=1,
        higher_is_better=True,
        blind_spot="All or nothing, and blind to meaning: it counts words that usually refute. Every draft that the "
        "guard let through has 1, so that it can't tell such systems apart.",
    )

    def __init__(self, settings: GuardSettings) -> None:
        """Take the guard's limits."""
        self._settings = settings

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return 1 or 0 for each draft."""
        return await asyncio.to_thread(lambda: [self._opposes(sample) if sample.text else None for sample in samples])

    def _opposes(self, sample: Sample) -> float:
        context = GuardContext(
            post=FlaggedPost(platform="evaluation", post_id="1", text=sample.post),
            language=sample.language,
            intent=sample.intent,
            evidence=sample.evidence,
            groups=sample.groups,
        )
        return float(takes_stance(material(sample.text, context), context, self._settings).passed)
