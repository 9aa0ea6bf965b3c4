"""A case with evidence, for the tests of strategies."""

from __future__ import annotations

import pytest

from core.domain import Evidence, FlaggedPost, GroupScore, Route, TargetGroup, Triage
from kb.starter import load_starter


@pytest.fixture(scope="session")
def evidence() -> tuple[Evidence, ...]:
    statements = (statement.evidence() for statement in load_starter())
    return tuple(item for item in statements if item.id.startswith("women-cedaw"))[:3]


@pytest.fixture(scope="session")
def post() -> FlaggedPost:
    return FlaggedPost(platform="forum", post_id="7", text="women have no business in politics")


@pytest.fixture(scope="session")
def triage() -> Triage:
    groups = (GroupScore(group=TargetGroup.WOMEN, score=0.9),)
    return Triage(language="en", groups=groups, hate=0.9, route=Route.DRAFT, reason="")
