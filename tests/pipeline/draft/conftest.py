"""Fixtures for the tests of drafting: cases, evidence and a scripted chat client."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.domain import Evidence, FlaggedPost, Grounding, TargetGroup, Triage
from core.settings import ChatSettings, GuardSettings
from kb.starter import load_starter
from models.chat import ChatModel
from models.toxicity import ToxicityHead
from models.turns import Turns
from pipeline.compose import Composer
from pipeline.draft import Drafter
from pipeline.guard import Guard, ToxicityCheck, word_checks
from pipeline.strategies import ComposeStrategy, FreeStrategy, Strategies, Writer
from tests.factories import facts_on_file, make_grounding, make_post, make_triage
from tests.models.scripted_chat import ScriptedChat

DEFAULT_CHAT = ChatSettings()


@pytest.fixture
def scripted() -> Callable[..., ScriptedChat]:
    """Return the class of the scripted model, to be called with its answers or its error."""
    return ScriptedChat


@pytest.fixture(scope="session")
def statements() -> tuple[Evidence, ...]:
    return tuple(statement.evidence() for statement in load_starter())


@pytest.fixture(scope="session")
def guard() -> Guard:
    settings = GuardSettings()
    return Guard([*word_checks(settings), ToxicityCheck(ToxicityHead.load(), settings)])


@pytest.fixture(scope="session")
def composer() -> Composer:
    return Composer(GuardSettings())


@pytest.fixture
def drafter(guard: Guard, composer: Composer) -> Callable[..., Drafter]:
    """Return a function that makes a drafter for a chat model, or for none, assembled as in a worker."""

    def make(chat: ChatModel | None, settings: ChatSettings = DEFAULT_CHAT) -> Drafter:
        free = FreeStrategy(Writer(chat, Turns(1, 60.0), GuardSettings()), settings.sampling)
        compose = ComposeStrategy(composer)
        return Drafter(Strategies(default=free, fallback=compose), guard)

    return make


@pytest.fixture(scope="session")
def post() -> FlaggedPost:
    return make_post(text="women have no business in politics, they only follow feelings")


@pytest.fixture(scope="session")
def triage() -> Triage:
    return make_triage(TargetGroup.WOMEN)


@pytest.fixture(scope="session")
def grounding() -> Grounding:
    return make_grounding(*facts_on_file("women-cedaw-7", "women-cedaw-5-stereotypes", "women-cedaw-11-work"))
