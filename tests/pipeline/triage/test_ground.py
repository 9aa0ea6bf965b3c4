from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from core.domain import (
    AttackKind,
    Claim,
    CounterClaim,
    Evidence,
    FlaggedPost,
    GroupScore,
    Intent,
    Plan,
    StrategyName,
    TargetGroup,
    Triage,
)
from core.errors import BadInput, ModelRefused, ModelUnavailable
from core.settings import GuardSettings, KnowledgeBaseSettings
from kb.claims.matching import ClaimMatcher, Readings
from kb.search import Searcher
from pipeline import vector
from pipeline.compose import Composer
from pipeline.ground import Grounder
from pipeline.post_reader import opinion_on_readings
from pipeline.second_opinion import SecondOpinion
from pipeline.strategies import ComposeStrategy, Strategies, Strategy
from tests.factories import make_evidence, make_post, make_triage

VOTE = make_evidence("vote", "States must guarantee women the right to vote.", groups=(TargetGroup.WOMEN,), score=0.95)
POST = make_post(text="women  should NOT vote @someone")
AGAINST_WOMEN = make_triage(TargetGroup.WOMEN)
OWN: NDArray[np.float32] = np.eye(384, dtype=np.float32)[7]
AGAINST_NOBODY = AGAINST_WOMEN.model_copy(update={"groups": ()})


class Shelf(Searcher):
    """A searcher that keeps what it was asked and answers with what lies on it."""

    def __init__(self, *evidence: Evidence) -> None:
        self.evidence = list(evidence)
        self.asked: tuple[str, NDArray[np.float32] | None, Collection[TargetGroup], int | None] | None = None
        self.also: Sequence[str] = ()
        self.nearest_first = False

    async def search(
        self,
        query: str,
        *,
        vector: NDArray[np.float32] | None = None,
        groups: Collection[TargetGroup] = (),
        k: int | None = None,
        also: Sequence[str] = (),
        nearest_first: bool = False,
    ) -> list[Evidence]:
        self.asked = (query, vector, groups, k)
        self.also, self.nearest_first = also, nearest_first
        return self.evidence

    async def embed(self, query: str) -> NDArray[np.float32]:
        return OWN


class OnFile(ClaimMatcher):
    """Claims on file of which every post makes the first one, where there is any."""

    def __init__(self, claim: Claim | None = None, *facts: Evidence) -> None:
        self.claim, self.answers = claim, facts
        self.asked: tuple[NDArray[np.float32], str] | None = None
        self.readings: Readings = ()
        self.attacked: tuple[TargetGroup, ...] = ()
        self.hate = 1.0

    def match(
        self,
        text: str,
        vector: NDArray[np.float32],
        groups: Collection[TargetGroup],
        language: str,
        readings: Readings = (),
        attacked: Collection[TargetGroup] = (),
        hate: float = 1.0,
    ) -> tuple[tuple[Claim, ...], tuple[Evidence, ...]]:
        self.asked, self.readings, self.attacked, self.hate = (vector, language), readings, tuple(attacked), hate
        return ((self.claim,), self.answers) if self.claim else ((), ())


class Planning(ComposeStrategy):
    """A strategy that plans two queries."""

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        return Plan(strategy=self.name, claims=("Women can't vote.",), queries=("vote", "election"))


class Away(ComposeStrategy):
    """A strategy whose planning model fails."""

    name = "away"
    plans_with_model = True

    def __init__(self, error: Exception) -> None:
        super().__init__(COMPOSER)
        self.error = error

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        raise self.error


COMPOSER = Composer(GuardSettings())


def grounder(
    shelf: Shelf, top_k: int = 3, strategy: Strategy | None = None, claims: ClaimMatcher | None = None
) -> Grounder:
    compose = ComposeStrategy(COMPOSER)
    strategies = Strategies(default=strategy or compose, fallback=compose)
    return Grounder(shelf, claims or OnFile(), strategies, KnowledgeBaseSettings(top_k=top_k))


async def test_evidence_is_searched_with_the_embedding_and_groups_of_triage() -> None:
    shelf = Shelf(VOTE)
    unit = np.eye(384, dtype=np.float32)[3]
    grounding = await grounder(shelf, 2).ground(POST, make_triage(TargetGroup.WOMEN, embedding=vector.pack(unit)))
    assert grounding.evidence == (VOTE,)
    assert grounding.note == ""
    assert shelf.asked is not None
    query, used, groups, k = shelf.asked
    assert query == "women should NOT vote @user"
    assert used is not None
    assert np.array_equal(used, unit)
    assert list(groups) == [TargetGroup.WOMEN]
    assert k == 2
    assert shelf.also == ()


async def test_the_search_knows_the_groups_surely_attacked_and_how_hateful_the_post_is() -> None:
    on_file = OnFile()
    triage = make_triage(TargetGroup.WOMEN, TargetGroup.JEWS)
    scores = (GroupScore(group=TargetGroup.WOMEN, score=0.9), GroupScore(group=TargetGroup.JEWS, score=0.5))
    await grounder(Shelf(), claims=on_file).ground(POST, triage.model_copy(update={"groups": scores}))
    assert on_file.attacked == (TargetGroup.WOMEN,)
    assert on_file.hate == triage.hate < 1


async def test_the_plans_queries_are_searched_too_and_the_plan_stays_with_the_evidence() -> None:
    shelf = Shelf(VOTE)
    grounding = await grounder(shelf, strategy=Planning(COMPOSER)).ground(POST, AGAINST_WOMEN)
    assert shelf.also == ("vote", "election")
    assert (grounding.plan.strategy, grounding.plan.claims) == ("compose", ("Women can't vote.",))
    assert (await grounder(Shelf(), strategy=Planning(COMPOSER)).ground(POST, AGAINST_NOBODY)).plan == grounding.plan


async def test_a_planning_model_that_is_away_is_waited_for_but_on_the_last_attempt() -> None:
    shelf = Shelf(VOTE)
    waiting = grounder(shelf, strategy=Away(ModelUnavailable("gone")))
    with pytest.raises(ModelUnavailable):
        await waiting.ground(POST, AGAINST_WOMEN)
    assert shelf.asked is None
    grounding = await waiting.ground(POST, AGAINST_WOMEN, last_attempt=True)
    note = "Drafted by compose, as away could not plan: gone."
    assert (grounding.plan, grounding.evidence) == (Plan(strategy="compose", note=note), (VOTE,))


async def test_a_planning_model_that_refuses_is_done_without_at_once() -> None:
    grounding = await grounder(Shelf(VOTE), strategy=Away(ModelRefused("too long"))).ground(POST, AGAINST_NOBODY)
    assert grounding.plan == Plan(strategy="compose", note="Drafted by compose, as away could not plan: too long.")


class Wanting(ComposeStrategy):
    """A strategy that wants paragraphs, and has a counter-claim where one is given."""

    name = "plain"

    def __init__(self, counter_claim: str = "") -> None:
        super().__init__(COMPOSER)
        self.counter_claim = counter_claim

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        queries = ("vote",) if self.counter_claim else ()
        return Plan(strategy=self.name, paragraphs=4, counter_claim=self.counter_claim, queries=queries)


async def test_facts_that_may_not_answer_the_post_come_after_near_paragraphs_and_not_beside_those_of_a_plan() -> None:
    unsure = OnFile(Claim(id="c", kind=AttackKind.CLAIM, gist="Women can't vote.", unsure=True), VOTE)
    alone = await grounder(Shelf(), claims=unsure).ground(POST, AGAINST_WOMEN)
    assert (alone.evidence, alone.is_unsure) == ((VOTE,), True)
    near = VOTE.model_copy(update={"id": "near", "score": 0.95})
    beside = await grounder(Shelf(near), claims=unsure).ground(POST, AGAINST_WOMEN)
    assert (beside.evidence, beside.is_unsure) == ((near,), False)
    planned = await grounder(Shelf(near), claims=unsure, strategy=Wanting()).ground(POST, AGAINST_WOMEN)
    assert (planned.evidence, planned.claims) == ((near,), ())


@pytest.mark.parametrize("counter_claim", ["", "Women can vote."])
async def test_a_plan_that_wants_paragraphs_gets_them_before_the_facts_on_file(counter_claim: str) -> None:
    shelf, fact = Shelf(VOTE), make_evidence("fact")
    claim = Claim(id="c", kind=AttackKind.CLAIM, gist="They can't.")
    asked = grounder(shelf, claims=OnFile(claim, fact, VOTE), strategy=Wanting(counter_claim))
    grounding = await asked.ground(POST, AGAINST_WOMEN)
    assert [piece.id for piece in grounding.evidence] == [VOTE.id, fact.id]
    assert grounding.claims == (claim,), "so that words on file can stand in"
    assert shelf.asked is not None
    assert (shelf.asked[0], shelf.asked[3]) == (counter_claim or "women should NOT vote @user", 4)
    assert (shelf.also, shelf.nearest_first) == ((("vote",), True) if counter_claim else ((), False))


async def test_a_redraft_is_planned_by_the_strategy_asked_for_and_says_where_it_is_not_here() -> None:
    compose = ComposeStrategy(COMPOSER)
    strategies = Strategies(default=compose, fallback=compose, others=(Wanting(),))
    asked = Grounder(Shelf(VOTE), OnFile(), strategies, KnowledgeBaseSettings())
    assert (await asked.ground(POST, AGAINST_WOMEN, strategy=StrategyName.PLAIN)).plan.strategy == "plain"
    missing = (await asked.ground(POST, AGAINST_WOMEN, strategy=StrategyName.TOURNAMENT)).plan
    assert missing.strategy == "compose"
    assert missing.note.startswith("Drafted by compose, as tournament could not plan")


async def test_without_an_embedding_the_searcher_makes_one_for_claims_and_paragraphs() -> None:
    shelf, claims = Shelf(VOTE), OnFile()
    await grounder(shelf, claims=claims).ground(POST, AGAINST_WOMEN)
    assert shelf.asked is not None
    assert claims.asked is not None
    assert np.array_equal(claims.asked[0], OWN)
    assert shelf.asked[1] is not None
    assert np.array_equal(shelf.asked[1], OWN)


async def test_a_claim_on_file_is_answered_with_its_facts_and_nothing_else_is_searched() -> None:
    counter = CounterClaim(intent=Intent.INFORMATIVE, text="Women vote as everybody does.")
    claim = Claim(id="women-vote", kind=AttackKind.CLAIM, gist="Women should not vote.", counter_claims=(counter,))
    shelf = Shelf(make_evidence("other"))
    grounding = await grounder(shelf, claims=OnFile(claim, VOTE)).ground(POST, AGAINST_WOMEN)
    assert (grounding.claims, grounding.evidence) == ((claim,), (VOTE,))
    assert shelf.asked is None


async def test_paragraphs_that_are_not_very_near_are_no_fitting_evidence() -> None:
    far = VOTE.model_copy(update={"id": "far", "score": 0.86})
    assert (await grounder(Shelf(far, VOTE)).ground(POST, AGAINST_WOMEN)).evidence == (VOTE,)
    grounding = await grounder(Shelf(far)).ground(POST, AGAINST_WOMEN)
    assert grounding.evidence == ()
    assert grounding.note.startswith("No fitting evidence")


async def test_a_post_in_an_unknown_language_is_answered_in_english() -> None:
    claims = OnFile()
    await grounder(Shelf(VOTE), claims=claims).ground(POST, AGAINST_WOMEN.model_copy(update={"language": "und"}))
    assert claims.asked is not None
    assert claims.asked[1] == "en"


async def test_a_torn_embedding_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(BadInput, match="Triage again"):
        await grounder(Shelf(VOTE)).ground(POST, make_triage(embedding="torn"))


OPINIONS = {"summed": SecondOpinion.load(), "reread": opinion_on_readings()}
"""The shipped opinions by the field of triage with the reading that they are on."""


@pytest.mark.parametrize("field", OPINIONS)
@pytest.mark.parametrize("known", [True, False])
async def test_claims_are_matched_with_what_the_same_layers_made_of_the_post(field: str, known: bool) -> None:
    claims, opinion = OnFile(), OPINIONS[field]
    reading = np.arange(opinion.length, dtype=np.float32)
    layers = opinion.layers if known else "another"
    triage = make_triage(TargetGroup.WOMEN).model_copy(update={field: f"{layers}:{vector.pack(reading)}"})
    await grounder(Shelf(VOTE), claims=claims).ground(POST, triage)
    given = dict(zip(OPINIONS, claims.readings, strict=True))
    own = given.pop(field)
    assert (own is not None and np.array_equal(own, reading)) == known
    assert list(given.values()) == [None]


@pytest.mark.parametrize("packed", ["no base64!", vector.pack(np.ones(4, np.float32))])
@pytest.mark.parametrize("field", OPINIONS)
async def test_what_triage_made_of_the_post_is_refused_where_it_is_torn(packed: str, field: str) -> None:
    triage = make_triage(TargetGroup.WOMEN).model_copy(update={field: f"{OPINIONS[field].layers}:{packed}"})
    with pytest.raises(BadInput, match="Triage again"):
        await grounder(Shelf(VOTE)).ground(POST, triage)
