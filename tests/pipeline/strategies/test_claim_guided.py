"""`claim-guided`: what the votes choose, whatever their order, and what a poor answer leads to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.domain import FlaggedPost, Triage
from core.settings import ClaimGuidedSettings, GuardSettings
from models.chat import Message
from models.turns import Turns
from pipeline.strategies import ClaimGuidedStrategy, Writer
from tests.models.scripted_chat import ObedientChat, ScriptedChat


class Convinced(ObedientChat):
    """A model that votes for one claim wherever it stands in the list, but once for the first."""

    def answers(self, messages: Sequence[Message], grammar: str | None) -> Sequence[str]:
        listed = re.findall(r"\[(\d)\] (.+)", messages[-1].content)
        if grammar and 'root ::= "1" |' in grammar:
            if not any(asked["max_tokens"] == 4 for asked in self.asked[:-1]):
                return ["1"]
            return [next(number for number, claim in listed if "reason 3" in claim)]
        return super().answers(messages, grammar)


def claim_guided(chat: ScriptedChat) -> ClaimGuidedStrategy:
    return ClaimGuidedStrategy(Writer(chat, Turns(1, 30.0), GuardSettings()), ClaimGuidedSettings())


async def test_the_claim_with_most_votes_is_searched_for(post: FlaggedPost, triage: Triage) -> None:
    plan = await claim_guided(Convinced()).plan(post, triage)
    assert plan.counter_claim == "Everyone counts, reason 3."
    assert {claim.text: claim.votes for claim in plan.voted if claim.votes} == {
        "Everyone counts, reason 1.": 1,
        "Everyone counts, reason 3.": 4,
    }
    assert (len(plan.voted), len(plan.queries), plan.paragraphs) == (5, 5, 5)


async def test_a_model_that_always_names_the_second_place_chooses_by_no_place(
    post: FlaggedPost, triage: Triage
) -> None:
    plan = await claim_guided(ObedientChat()).plan(post, triage)
    assert [claim.votes for claim in plan.voted] == [1, 1, 1, 1, 1]
    assert plan.counter_claim == plan.voted[0].text, "of equals the claim that was named first"


async def test_without_a_claim_of_any_use_the_plan_says_so(post: FlaggedPost, triage: Triage) -> None:
    plan = await claim_guided(ScriptedChat("I can't help with that.")).plan(post, triage)
    assert (plan.counter_claim, plan.queries, plan.note) == ("", (), "The model named no counter-claim.")
