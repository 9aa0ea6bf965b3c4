"""Find the evidence that answers a triaged post."""

from __future__ import annotations

from core.domain import FlaggedPost, Grounding, Triage
from core.settings import KnowledgeBaseSettings
from kb.search import Searcher
from pipeline import vector
from pipeline.normalise import normalise
from pipeline.strategies import Strategy
from pipeline.triage import LONGEST_READ, named


class Grounder:
    """The search for evidence, as a strategy plans it. Safe to call from many tasks of one event loop."""

    def __init__(self, searcher: Searcher, strategy: Strategy, settings: KnowledgeBaseSettings) -> None:
        self._searcher = searcher
        self._strategy = strategy
        self._settings = settings

    async def ground(self, post: FlaggedPost, triage: Triage) -> Grounding:
        """Return the evidence, best first, for the groups that the post attacks; a note says why there is none.

        Triage's embedding is used again. Raises BadInput when it can't be read, ModelUnavailable or ModelRefused when
        the strategy's planning does, or when there is no embedding and an embedding endpoint fails.
        """
        plan = await self._strategy.plan(post, triage)
        groups = [score.group for score in triage.groups]
        text = normalise(post.text)[:LONGEST_READ]
        embedding = vector.unpack(triage.embedding) if triage.embedding else None
        evidence = await self._searcher.search(
            text, vector=embedding, groups=groups, k=self._settings.top_k, also=plan.queries
        )
        if evidence:
            return Grounding(evidence=tuple(evidence), plan=plan)
        whom = named(groups) if groups else "this post"
        note = f"No fitting evidence in the knowledge base for {whom}; search it by hand or write the reply yourself."
        return Grounding(evidence=(), note=note, plan=plan)
