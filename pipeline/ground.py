"""Find the evidence that answers a triaged post."""

from __future__ import annotations

import asyncio
import logging

from core.domain import Evidence, FlaggedPost, Grounding, Plan, StrategyName, TargetGroup, Triage
from core.errors import BadInput, ModelRefused, ModelUnavailable
from core.settings import KnowledgeBaseSettings
from kb.claims.matching import ClaimMatcher
from kb.query import Vectors
from kb.search import Searcher
from pipeline import vector
from pipeline.languages import DEFAULT, UNKNOWN
from pipeline.normalise import normalise
from pipeline.post_reader import opinion_on_readings
from pipeline.scoring import LONGEST_READ
from pipeline.second_opinion import SecondOpinion
from pipeline.strategies import Strategies
from pipeline.triage import listed_groups

log = logging.getLogger(__name__)

SURELY_ATTACKED = 0.8
"""Probability that a group needs for a reply to name it beside another one."""


class Grounder:
    """The search for evidence, as planned by a strategy. Safe to call from many tasks of one event loop."""

    def __init__(
        self, searcher: Searcher, claims: ClaimMatcher, strategies: Strategies, settings: KnowledgeBaseSettings
    ) -> None:
        self._searcher = searcher
        self._claims = claims
        self._strategies = strategies
        self._settings = settings
        self._opinions = SecondOpinion.load(), opinion_on_readings()

    async def ground(
        self, post: FlaggedPost, triage: Triage, *, strategy: StrategyName | None = None, last_attempt: bool = False
    ) -> Grounding:
        """Return the facts that answer the post's claims or, where no claim is sure, paragraphs very near the post.

        `strategy` makes the plan, or the default strategy if None. If the plan wants paragraphs, they come before the
        facts. If there is no evidence, a note says why. Triage's embedding is reused; raises BadInput if it can't be
        read.

        Raises ModelUnavailable while the model that the strategy plans with is away. On the `last_attempt`, or when
        that model refuses, the fallback plans, and the plan's note says so. A failing embedding endpoint raises
        ModelUnavailable or ModelRefused, whatever the attempt.
        """
        plan = await self._plan(post, triage, strategy, last_attempt)
        groups = [score.group for score in triage.groups]
        text = normalise(post.text)[:LONGEST_READ]
        embedding = vector.unpack(triage.embedding) if triage.embedding else await self._searcher.embed(text)
        language = DEFAULT if triage.language == UNKNOWN else triage.language
        readings = tuple(map(_reading, self._opinions, (triage.summed, triage.reread)))
        attacked = [score.group for score in triage.groups if score.score >= SURELY_ATTACKED]
        claims, facts = await asyncio.to_thread(
            self._claims.match, text, embedding, groups, language, readings, attacked, triage.hate
        )
        unsure = any(claim.unsure for claim in claims)
        if plan.paragraphs:
            if unsure:
                claims, facts = (), ()
            searched = await self._paragraphs(text, embedding, groups, plan)
            evidence = {piece.id: piece for piece in (*facts, *searched)}
            order = dict.fromkeys(piece.id for piece in (*searched, *facts))
            if evidence:
                return Grounding(evidence=tuple(evidence[id] for id in order), plan=plan, claims=claims)
        if facts and not unsure:
            return Grounding(evidence=facts, plan=plan, claims=claims)
        near = await self._searcher.search(
            text, vector=embedding, groups=groups, k=self._settings.top_k, also=plan.queries
        )
        paragraphs = tuple(paragraph for paragraph in near if paragraph.score >= self._settings.paragraph_from)
        if paragraphs:
            return Grounding(evidence=paragraphs, plan=plan)
        if facts:
            return Grounding(evidence=facts, plan=plan, claims=claims)
        whom = listed_groups(groups) if groups else "this post"
        note = f"No fitting evidence in the knowledge base for {whom}; search it by hand or write the reply yourself."
        return Grounding(evidence=(), note=note, plan=plan)

    async def _paragraphs(self, text: str, embedding: Vectors, groups: list[TargetGroup], plan: Plan) -> list[Evidence]:
        """Return the plan's number of paragraphs: nearest to its counter-claim if it has one, else to the post.

        With a counter-claim, all the plan's queries find candidates, and nearness to the counter-claim orders them.
        """
        if plan.counter_claim:
            return await self._searcher.search(
                plan.counter_claim, groups=groups, k=plan.paragraphs, also=plan.queries, nearest_first=True
            )
        return await self._searcher.search(text, vector=embedding, groups=groups, k=plan.paragraphs, also=plan.queries)

    async def _plan(self, post: FlaggedPost, triage: Triage, name: StrategyName | None, last_attempt: bool) -> Plan:
        strategy = self._strategies.default if name is None else self._strategies.named(name)
        if strategy is None:
            return await self._plan_without(str(name), "it is not among the strategies of this worker", post, triage)
        try:
            return await strategy.plan(post, triage)
        except (ModelUnavailable, ModelRefused) as error:
            if isinstance(error, ModelUnavailable) and not last_attempt:
                raise
            return await self._plan_without(strategy.name, str(error), post, triage)

    async def _plan_without(self, name: str, why: str, post: FlaggedPost, triage: Triage) -> Plan:
        fallback = self._strategies.fallback
        log.warning("%s is planned by %s, not by %s: %s", post.key, fallback.name, name, why)
        plan = await fallback.plan(post, triage)
        return plan.model_copy(
            update={"note": f"Drafted by {fallback.name}, as {name} could not plan: {why.rstrip('.')}."}
        )


def _reading(opinion: SecondOpinion, stored: str | None) -> Vectors | None:
    """Return a model's reading of the post that triage stored; None if there is none by the layers of this release.

    Raises BadInput if it can't be read.
    """
    layers, _, packed = (stored or "").partition(":")
    if not packed or layers != opinion.layers:
        return None
    reading = vector.numbers(packed)
    if len(reading) != opinion.length:
        raise BadInput(f"The stored reading has {len(reading)} numbers, not {opinion.length}. Triage again.")
    return reading
