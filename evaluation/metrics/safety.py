"""Safety: how unlikely a draft is to be toxic itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.records import Sample
from models.toxicity import Toxicity


class Safety(Metric):
    """One minus the toxicity that a model assigns to a draft."""

    def __init__(self, toxicity: Toxicity, judge: str) -> None:
        """Take the toxicity model and its name."""
        self._toxicity = toxicity
        self.card = MetricCard(
            name="safety",
            label="Safety",
            source="Damo et al. (who asked OpenAI's moderation)",
            formula="1 - P(toxic)",
            lowest=0,
            highest=1,
            higher_is_better=True,
            blind_spot="Sees insults, not hate put politely; a draft that quotes a slur to reject it loses. In other "
            "languages than its own it guesses.",
            by=f"1 - toxicity by {judge}, trained on {', '.join(sorted(toxicity.languages))}",
        )

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the safety of each draft."""
        return await asyncio.to_thread(
            lambda: [1 - self._toxicity.score(sample.text) if sample.text else None for sample in samples]
        )
