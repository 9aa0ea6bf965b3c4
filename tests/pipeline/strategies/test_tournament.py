"""The tournament: who wins, what is reported, and that its budget ends it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import pytest

from core.domain import DraftRequest, Evidence, FlaggedPost, Origin, Plan, TargetGroup, Triage
from core.settings import GuardSettings, TournamentSettings
from models.chat import ChatModel, Completion, Message
from models.turns import Turns
from pipeline.guard import GuardContext
from pipeline.strategies import Proposal, Proposed, Strategy, TournamentStrategy, Writer
from pipeline.strategies.annealing import odds
from tests.models.scripted_chat import ObedientChat

LIMITS = GuardSettings()
PLAN = Plan(strategy="tournament")
REPLIES = tuple(f"Everyone counts. Reason {letter} says so." for letter in "abcdefgh")


class Entering:
    """A strategy that enters set replies and asks no model."""

    name = "entering"
    plans_with_model = writes_with_model = False

    def __init__(self, replies: Sequence[str]) -> None:
        self._replies = replies

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        return Plan(strategy=self.name)

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> Proposed:
        return Proposed((tuple(Proposal(text, Origin.COMPOSER) for text in self._replies),))


class Preferring(ObedientChat):
    """A judge who likes the replies later in the alphabet, and, less, whatever is shown first."""

    def answers(self, messages: Sequence[Message], grammar: str | None) -> Sequence[str]:
        if not grammar or "score" not in grammar:
            return ["Everyone counts. So it is."]
        letters = [ord(letter) - ord("a") for letter in re.findall(r"Reason (\w) says", messages[-1].content)]
        if len(letters) < 2:
            return [str(letters[0] if letters else 0)]
        return [f"{letters[0] + 1} {letters[1]}"]


def tournament(
    chat: ChatModel, *, replies: Sequence[str] = REPLIES, turns: Turns | None = None, **settings: Any
) -> TournamentStrategy:
    def entrants(_: ChatModel | None) -> list[Strategy]:
        return [Entering(replies)]

    return TournamentStrategy(Writer(chat, turns or Turns(1, 30.0), LIMITS), TournamentSettings(**settings), entrants)


@pytest.fixture
def context(post: FlaggedPost, evidence: tuple[Evidence, ...]) -> GuardContext:
    return GuardContext(post=post, language="en", evidence=evidence, groups=(TargetGroup.WOMEN,))


async def test_the_best_six_meet_each_other_in_both_orders_and_the_first_four_go_on(context: GuardContext) -> None:
    chat = Preferring()
    proposed = await tournament(chat, iterations=0).propose(context, PLAN, DraftRequest())
    assert [round_[0].text for round_ in proposed.rounds] == list(REPLIES[:1:-1][:4])
    assert len(proposed.duels) == 15
    assert sum(asked["max_tokens"] == 6 for asked in chat.asked) == 30
    assert proposed.note.startswith("Chosen of 6 replies in 15 duels, each judged in both orders.")


async def test_a_duel_is_reported_with_both_orders_from_the_first_ones_side(context: GuardContext) -> None:
    proposed = await tournament(Preferring(), iterations=0, pool=2).propose(context, PLAN, DraftRequest())
    (duel,) = proposed.duels
    assert (duel.first, duel.second) == (REPLIES[7], REPLIES[6])
    assert (duel.in_order, duel.turned) == ((8.0, 6.0), (7.0, 7.0)), "who is shown first gets a point more"


async def test_where_one_order_is_enough_each_pair_is_judged_once(context: GuardContext) -> None:
    chat = TakingTheFirst()
    proposed = await tournament(chat, iterations=0, pool=3, both_orders=False).propose(context, PLAN, DraftRequest())
    assert sum(asked["max_tokens"] == 6 for asked in chat.asked) == 3
    assert [(duel.in_order, duel.turned) for duel in proposed.duels] == [((10.0, 2.0), None)] * 3
    assert proposed.note == "Chosen of 3 replies in 3 duels, each judged once."
    assert [round_[0].text for round_ in proposed.rounds] == list(REPLIES[:4:-1])


async def test_rewriting_has_its_temperature_and_writer_and_judge_their_share_of_the_evidence(
    context: GuardContext,
) -> None:
    chat = Preferring()
    refining = tournament(chat, iterations=1, target=10, rewriting_temperature=1.2, evidence=1)
    await refining.propose(context, PLAN, DraftRequest())
    assert {asked["temperature"] for asked in chat.asked if asked["max_tokens"] == 150} == {1.2}
    told = [asked["messages"][-1].content for asked in chat.asked]
    assert all("[1] " in text and "[2] " not in text for text in told)


async def test_tokens_end_it_with_room_for_the_duels(context: GuardContext) -> None:
    chat = Preferring()
    proposed = await tournament(chat, tokens=900, target=10).propose(context, PLAN, DraftRequest())
    assert chat.tokens <= 600, "a third is for planning"
    assert len(proposed.duels) == 15
    assert any(asked["max_tokens"] == 150 for asked in chat.asked), "some replies were rewritten"


async def test_seconds_end_it(context: GuardContext) -> None:
    class Slow(Preferring):
        async def complete(self, messages: Sequence[Message], **asked: Any) -> list[Completion]:
            await asyncio.sleep(0.02)
            return await super().complete(messages, **asked)

    async with asyncio.timeout(3):
        proposed = await tournament(Slow(), seconds=0.6, tokens=100_000, target=10).propose(
            context, PLAN, DraftRequest()
        )
    assert proposed.rounds
    assert len(proposed.duels) < 15
    assert "its budget was spent" in proposed.note


@pytest.mark.parametrize(("tokens", "why"), [(300, "its time or tokens were spent"), (6000, "wrote no other")])
async def test_without_a_second_reply_the_note_says_why(context: GuardContext, tokens: int, why: str) -> None:
    alone = tournament(Preferring(), replies=REPLIES[:1], iterations=0, tokens=tokens)
    proposed = await alone.propose(context, PLAN, DraftRequest())
    assert len(proposed.rounds) == 1
    assert proposed.note.startswith("No duel was held, with 1 reply to judge: ")
    assert why in proposed.note


async def test_its_time_counts_from_its_turn(context: GuardContext) -> None:
    turns = Turns(1, 30.0)
    waiting = tournament(Preferring(), turns=turns, seconds=1.5, iterations=0)
    async with turns.turn("another"):
        draft = asyncio.create_task(waiting.propose(context, PLAN, DraftRequest()))
        await asyncio.sleep(1.2)
    assert len((await draft).duels) == 15


async def test_a_judge_that_can_not_be_read_leaves_the_replies_in_the_order_they_were_entered(
    context: GuardContext,
) -> None:
    class Silent(ObedientChat):
        def answers(self, messages: Sequence[Message], grammar: str | None) -> Sequence[str]:
            return ["who knows"]

    proposed = await tournament(Silent(), iterations=1).propose(context, PLAN, DraftRequest())
    assert proposed.duels == ()
    assert proposed.rounds[0][0].text in REPLIES


@pytest.mark.parametrize(
    ("temperature", "expected"), [(1.0, [0.5, 0.5]), (2.0, [0.2, 0.8]), (0.5, [0.8, 0.2])], ids=["even", "hot", "cold"]
)
def test_a_rising_temperature_makes_choice_greedier(temperature: float, expected: list[float]) -> None:
    assert odds([6.0, 8.0], temperature) == pytest.approx(expected)


class TakingTheFirst(Preferring):
    """A judge who prefers whatever is shown first, as small models do."""

    def answers(self, messages: Sequence[Message], grammar: str | None) -> Sequence[str]:
        own = super().answers(messages, grammar)
        return ["10 2"] if len(own[0].split()) == 2 and "score" in (grammar or "") else own


async def test_a_judge_who_prefers_a_place_is_reported_and_the_replies_own_scores_rank(context: GuardContext) -> None:
    proposed = await tournament(TakingTheFirst(), iterations=0, pool=3).propose(context, PLAN, DraftRequest())
    assert "In 3 of them whoever was shown first, or second, won both times." in proposed.note
    assert [round_[0].text for round_ in proposed.rounds] == list(REPLIES[:4:-1])
