"""Fixtures for the tests of single checks: a post, its evidence and a guard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.domain import Check, Intent, TargetGroup
from core.settings import GuardSettings
from models.toxicity import ToxicityHead
from pipeline.guard import Guard, GuardContext, ToxicityCheck, word_checks
from pipeline.guard.checks import FunctionCheck
from pipeline.guard.material import material
from tests.factories import make_evidence, make_post, make_source

VOTE = make_evidence(
    "women-cedaw-7",
    "Under the women's rights convention CEDAW, states must guarantee women the right to vote, to stand for "
    "election and to hold public office at every level.",
    groups=(TargetGroup.WOMEN,),
    answers=("women do not belong in politics",),
    source=make_source(
        symbol="A/RES/34/180",
        locator="Article 7",
        year=1979,
        title="Convention on the Elimination of All Forms of Discrimination against Women",
    ),
)
SHARE = make_evidence(
    "disabled-share",
    "The UN General Assembly put the number of people with disabilities in 2024 at an estimated 1.3 billion, or "
    "16 per cent of the world's population.",
    groups=(TargetGroup.DISABLED,),
    source=make_source(
        symbol="A/RES/79/149",
        locator="Preamble",
        year=2024,
        title="Inclusive development for and with persons with disabilities",
    ),
)
MIGRANTS = make_evidence(
    "migrants-icerd",
    "The UN treaty against racial discrimination never allows laws on nationality to discriminate against any "
    "particular nationality, whatever a state decides about citizenship.",
    groups=(TargetGroup.MIGRANTS,),
    source=make_source(
        symbol="A/RES/2106(XX)",
        locator="Article 1(3)",
        year=1965,
        title="International Convention on the Elimination of All Forms of Racial Discrimination",
    ),
)

GOOD = f"Women deserve an equal say in politics. {VOTE.text}"

Judge = Callable[..., Check]


@pytest.fixture(scope="session")
def checks() -> dict[str, FunctionCheck | ToxicityCheck]:
    settings = GuardSettings()
    toxicity = ToxicityCheck(ToxicityHead.load(), settings)
    return {**{check.name: check for check in word_checks(settings)}, toxicity.name: toxicity}


@pytest.fixture(scope="session")
def guard(checks: dict[str, FunctionCheck | ToxicityCheck]) -> Guard:
    return Guard(tuple(checks.values()))


@pytest.fixture(scope="session")
def context() -> GuardContext:
    post = make_post(text="women have no business in politics, keep them in the kitchen")
    return GuardContext(post=post, language="en", evidence=(VOTE, SHARE, MIGRANTS), groups=(TargetGroup.WOMEN,))


@pytest.fixture
def judge(checks: dict[str, FunctionCheck | ToxicityCheck], context: GuardContext) -> Judge:
    """Return a function that runs one check by name on a text, and returns its result."""

    def one(
        name: str,
        text: str,
        post: str | None = None,
        intent: Intent = Intent.INFORMATIVE,
        language: str = "en",
        platform: str = "forum",
        avoid: tuple[str, ...] = (),
        thread: tuple[str, ...] = (),
    ) -> Check:
        flagged = make_post(text=post or context.post.text, platform=platform, context=thread)
        ctx = replace(context, post=flagged, intent=intent, language=language, avoid=avoid)
        return checks[name].check(material(text, ctx), ctx)

    return one


@pytest.fixture
def good() -> str:
    """Return a reply that passes every hard check in the usual context."""
    return GOOD
