"""A case with evidence, for the tests of strategies."""

from __future__ import annotations

import pytest

from core.domain import Evidence, FlaggedPost, TargetGroup, Triage
from kb.starter import load_starter
from tests.factories import make_post, make_triage


@pytest.fixture(scope="session")
def evidence() -> tuple[Evidence, ...]:
    statements = (statement.evidence() for statement in load_starter())
    return tuple(item for item in statements if item.id.startswith("women-cedaw"))[:3]


@pytest.fixture(scope="session")
def post() -> FlaggedPost:
    return make_post(text="women have no business in politics")


@pytest.fixture(scope="session")
def triage() -> Triage:
    return make_triage(TargetGroup.WOMEN)
