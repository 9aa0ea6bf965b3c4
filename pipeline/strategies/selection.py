"""The available strategies, and which of them serves a case."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from core.domain import Plan
from pipeline.strategies.strategy import Strategy

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Strategies:
    """The available strategies: `default` plans new cases; `fallback`, which asks no model, stands in for any other.

    Raises ValueError for a fallback that asks a model.
    """

    default: Strategy
    fallback: Strategy
    others: tuple[Strategy, ...] = ()

    def __post_init__(self) -> None:
        if self.fallback.plans_with_model or self.fallback.writes_with_model:
            raise ValueError(f"{self.fallback.name} asks a model, so it can't be what is left when the model is away")

    @property
    def all(self) -> tuple[Strategy, ...]:
        """Return each strategy once."""
        listed = (self.default, *self.others, self.fallback)
        return tuple({strategy.name: strategy for strategy in listed}.values())

    def named(self, name: str) -> Strategy | None:
        """Return the strategy with this name; None if there is none."""
        return next((strategy for strategy in self.all if strategy.name == name), None)

    def of(self, plan: Plan) -> Strategy:
        """Return the strategy that made a plan, or the default one if that strategy is not available."""
        if strategy := self.named(plan.strategy):
            return strategy
        if plan.strategy:
            log.warning("No strategy is named %r here; %s drafts instead.", plan.strategy, self.default.name)
        return self.default
