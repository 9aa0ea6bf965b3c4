"""The reward of a reply for PPO: CoARL's, computed by the same metric that `evaluate score` reports."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from core.domain import Intent, TargetGroup
from core.settings import Settings
from evaluation.metrics.toolbox import open_metrics
from evaluation.records import Sample


class CoarlRewards:
    """A reward function for trl: the mean of a reply's stance, argument quality and safety; 0 if one has no value."""

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
        """Return a reward, 0 to 1, for each reply; trl passes the other columns by name."""
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
