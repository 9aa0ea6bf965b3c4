"""What a reply is worth to PPO: CoARL's reward, by the very functions that `evaluate score` reports."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from core.domain import Intent, TargetGroup
from core.settings import Settings
from evaluation.metrics.toolbox import open_metrics
from evaluation.records import Sample


class CoarlRewards:
    """The mean of stance, argument quality and safety of each reply; 0 for a reply of which they say nothing."""

    __name__ = "coarl"

    def __init__(self, settings: Settings) -> None:
        (self._metric,) = open_metrics(settings, only=("coarl",)).metrics
        self._loop = asyncio.Runner()

    def __call__(
        self,
        completions: Sequence[Any],
        post: Sequence[str],
        language: Sequence[str],
        intent: Sequence[str],
        groups: Sequence[Sequence[str]],
        **others: object,
    ) -> list[float]:
        """Return a reward, 0 to 1, for each reply, as trl asks for it."""
        samples = [
            Sample(
                post=text,
                text=reply if isinstance(reply, str) else str(reply[0]["content"]),
                language=code,
                intent=Intent(aim),
                groups=tuple(TargetGroup(group) for group in attacked),
            )
            for reply, text, code, aim, attacked in zip(completions, post, language, intent, groups, strict=True)
        ]
        return [value or 0.0 for value in self._loop.run(self._metric.score(samples))]
