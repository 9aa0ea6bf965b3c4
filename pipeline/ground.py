"""Find the evidence that answers a triaged post."""

from __future__ import annotations

import asyncio
import logging

from core.domain import FlaggedPost, Grounding, Plan, Triage
from core.errors import ModelRefused, ModelUnavailable
from core.settings import KnowledgeBaseSettings
from kb.claims.matching import ClaimMatcher
from kb.search import Searcher
from pipeline import vector
from pipeline.languages import DEFAULT, UNKNOWN
from pipeline.normalise import normalise
from pipeline.strategies import Strategies
from pipeline.triage import LONGEST_READ, named

log = logging.getLogger(__name__)


class Grounder:
    """The search for evidence, as the default strategy plans it. Safe to call from many tasks of one event loop."""

    def __init__(
        self, searcher: Searcher, claims: ClaimMatcher, strategies: Strategies, settings: KnowledgeBaseSettings
    ) -> None:
        self._searcher = searcher
        self._claims = claims
        self._strategies = strategies
        self._settings = settings

    async def ground(self, post: FlaggedPost, triage: Triage, *, last_attempt: bool = False) -> Grounding:
        """Return the facts that answer the claims which the post makes; where none is sure, paragraphs very near to it.

        A note says why there is no evidence. Triage's embedding is used again; raises BadInput when it can't be read.
        Raises ModelUnavailable while the model that the strategy plans with is away; on the `last_attempt`, or when
        that model refuses, the fallback plans. An embedding endpoint that fails is raised as ModelUnavailable or
        ModelRefused, whatever the attempt.
        """
        plan = await self._plan(post, triage, last_attempt)
        groups = [score.group for score in triage.groups]
        text = normalise(post.text)[:LONGEST_READ]
        embedding = vector.unpack(triage.embedding) if triage.embedding else await self._searcher.embed(text)
        language = DEFAULT if triage.language == UNKNOWN else triage.language
        claims, facts = await asyncio.to_thread(self._claims.match, text, embedding, groups, language)
        if facts:
            return Grounding(evidence=facts, plan=plan, claims=claims)
        near = await self._searcher.search(
            text, vector=embedding, groups=groups, k=self._settings.top_k, also=plan.queries
        )
        paragraphs = tuple(paragraph for paragraph in near if paragraph.score >= self._settings.paragraph_from)
        if paragraphs:
            return Grounding(evidence=paragraphs, plan=plan)
        whom = named(groups) if groups else "this post"
        note = f"No fitting evidence in the knowledge base for {whom}; search it by hand or write the reply yourself."
        return Grounding(evidence=(), note=note, plan=plan)

    async def _plan(self, post: FlaggedPost, triage: Triage, last_attempt: bool) -> Plan:
        try:
            return await self._strategies.default.plan(post, triage)
        except (ModelUnavailable, ModelRefused) as error:
            if isinstance(error, ModelUnavailable) and not last_attempt:
                raise
            fallback = self._strategies.fallback
            log.warning("%s is planned by %s, without a model: %s", post.key, fallback.name, error)
            return await fallback.plan(post, triage)
