"""Fixtures for the tests of strategies: a case with evidence."""

from __future__ import annotations

import pytest

from core.domain import Evidence, FlaggedPost, TargetGroup, Triage
from tests.factories import facts_on_file, make_post, make_triage


@pytest.fixture(scope="session")
def evidence() -> tuple[Evidence, ...]:
    return facts_on_file("women-cedaw-7", "women-cedaw-5-stereotypes", "women-cedaw-11-work")


@pytest.fixture(scope="session")
def post() -> FlaggedPost:
    return make_post(text="women have no business in politics")


@pytest.fixture(scope="session")
def triage() -> Triage:
    return make_triage(TargetGroup.WOMEN)
