"""What the page and the API say of strategies, and of what a model read."""

from __future__ import annotations

from bot.backing import FRAME_NAMES, model_reading
from bot.translation import speaking
from bot.web.pages import Pages
from core.domain import Frame, Plan, StrategyName, VotedClaim
from pipeline.guard.lexicon import table
from tests.factories import make_case, make_grounding


def test_the_page_offers_another_way_only_where_there_is_one() -> None:
    menu = '<select id="redraft-strategy">'
    assert menu not in Pages(strategies=(StrategyName.COMPOSE,)).html("en")
    offering = Pages(strategies=(StrategyName.COMPOSE, StrategyName.CLAIM_GUIDED)).html("en")
    assert menu in offering
    assert '<option value="claim-guided">claim-guided: a counter-claim chosen by vote' in offering


def test_what_a_model_read_in_the_post_is_told_by_name() -> None:
    plan = Plan(
        counter_claim="They vote.", voted=(VotedClaim(text="They vote.", votes=4),),
        frames=(Frame(name="implication", reading="It says they should not."),),
    )  # fmt: skip
    case = make_case(grounding=make_grounding().model_copy(update={"plan": plan}))
    assert model_reading(case) == (
        ("counter-claim chosen", "They vote. (4 votes)"),
        ("implication", "It says they should not."),
    )
    assert model_reading(make_case()) == ()
    with speaking("es"):
        assert [name for name, _ in model_reading(case)] == ["contraargumento elegido", "lo que da a entender"]


def test_every_frame_has_a_name_for_moderators() -> None:
    assert set(FRAME_NAMES) == set(table("prompts/intent-frames")["frames"])
