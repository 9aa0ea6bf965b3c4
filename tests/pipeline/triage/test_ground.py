from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from core.domain import Evidence, FlaggedPost, Plan, TargetGroup, Triage
from core.errors import BadInput, ModelRefused, ModelUnavailable
from core.settings import GuardSettings, KnowledgeBaseSettings
from kb.search import Searcher
from pipeline import vector
from pipeline.compose import Composer
from pipeline.ground import Grounder
from pipeline.strategies import ComposeStrategy, Strategies, Strategy
from tests.factories import make_evidence, make_post, make_triage

VOTE = make_evidence("vote", "States must guarantee women the right to vote.", groups=(TargetGroup.WOMEN,))
POST = make_post(text="women  should NOT vote @someone")
AGAINST_WOMEN = make_triage(TargetGroup.WOMEN)
AGAINST_NOBODY = AGAINST_WOMEN.model_copy(update={"groups": ()})


class Shelf(Searcher):
    """A searcher that keeps what it was asked and answers with what lies on it."""

    def __init__(self, *evidence: Evidence) -> None:
        self.evidence = list(evidence)
        self.asked: tuple[str, NDArray[np.float32] | None, Collection[TargetGroup], int | None] | None = None
        self.also: Sequence[str] = ()

    async def search(
        self,
        query: str,
        *,
        vector: NDArray[np.float32] | None = None,
        groups: Collection[TargetGroup] = (),
        k: int | None = None,
        also: Sequence[str] = (),
    ) -> list[Evidence]:
        self.asked = (query, vector, groups, k)
        self.also = also
        return self.evidence


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


def grounder(shelf: Shelf, top_k: int = 3, strategy: Strategy | None = None) -> Grounder:
    compose = ComposeStrategy(COMPOSER)
    strategies = Strategies(default=strategy or compose, fallback=compose)
    return Grounder(shelf, strategies, KnowledgeBaseSettings(top_k=top_k))


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
    assert (grounding.plan, grounding.evidence) == (Plan(strategy="compose"), (VOTE,))


async def test_a_planning_model_that_refuses_is_done_without_at_once() -> None:
    grounding = await grounder(Shelf(VOTE), strategy=Away(ModelRefused("too long"))).ground(POST, AGAINST_NOBODY)
    assert grounding.plan == Plan(strategy="compose")


async def test_without_an_embedding_the_searcher_makes_its_own() -> None:
    shelf = Shelf(VOTE)
    await grounder(shelf).ground(POST, AGAINST_WOMEN)
    assert shelf.asked is not None
    assert shelf.asked[1] is None


@pytest.mark.parametrize(
    ("triage", "whom"),
    [
        (AGAINST_NOBODY, "this post"),
        (make_triage(TargetGroup.LGBT), "LGBT people"),
        (make_triage(TargetGroup.WOMEN, TargetGroup.MUSLIMS), "women and Muslims"),
    ],
)
async def test_a_note_says_for_whom_nothing_fits(triage: Triage, whom: str) -> None:
    grounding = await grounder(Shelf()).ground(POST, triage)
    assert grounding.evidence == ()
    assert grounding.note.startswith(f"No fitting evidence in the knowledge base for {whom};")
    assert "by hand" in grounding.note


async def test_a_torn_embedding_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(BadInput, match="Triage again"):
        await grounder(Shelf(VOTE)).ground(POST, make_triage(embedding="torn"))
