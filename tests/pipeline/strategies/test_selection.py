from __future__ import annotations

import pytest

from core.domain import Plan
from core.settings import ChatSettings, GuardSettings
from models.turns import Turns
from pipeline.compose import Composer
from pipeline.strategies import ComposeStrategy, FreeStrategy, Strategies, Writer

FREE = FreeStrategy(Writer(None, Turns(1, 60.0), GuardSettings()), ChatSettings().sampling)
COMPOSE = ComposeStrategy(Composer(GuardSettings()))


class Other(ComposeStrategy):
    """A strategy that plans no new cases."""

    name = "other"


OTHER = Other(Composer(GuardSettings()))


@pytest.mark.parametrize(
    ("name", "strategy"),
    [("free", FREE), ("compose", COMPOSE), ("other", OTHER), ("", FREE), ("of a later version", FREE)],
)
def test_a_plan_goes_to_the_strategy_that_made_it_and_else_to_the_default(name: str, strategy: object) -> None:
    assert Strategies(default=FREE, fallback=COMPOSE, others=(OTHER,)).of(Plan(strategy=name)) is strategy


def test_the_default_may_be_the_fallback_too() -> None:
    assert Strategies(default=COMPOSE, fallback=COMPOSE).all == (COMPOSE,)


def test_a_fallback_that_asks_a_model_is_refused() -> None:
    with pytest.raises(ValueError, match="free asks a model"):
        Strategies(default=COMPOSE, fallback=FREE)
