"""Triage one flagged post: its language, whom it attacks, how hateful it is, and what to do with it."""

from __future__ import annotations

import asyncio
from functools import partial

from core.domain import FlaggedPost, GroupScore, Route, TargetGroup, Triage
from core.settings import TriageSettings
from models.e5 import E5Embedder, Reading
from models.embed import Embedder, Vectors
from models.embedders import default_embedder
from pipeline import detection, routing_rules, thread, vector
from pipeline.heads import HATE_IS_HIGH, Scores
from pipeline.normalise import normalise
from pipeline.post_reader import PostReader
from pipeline.scoring import LONGEST_READ, PostScorer


class Triager:
    """The first stage of a case. Safe to call from many tasks of one event loop.

    The heads read the default embedder's vectors only. If the knowledge base uses another embedder, the default one is
    loaded as well, for the heads; its threads end with the process.
    """

    def __init__(self, embedder: Embedder, settings: TriageSettings, post_reader: PostReader | None = None) -> None:
        self._settings = settings
        self._scorer = PostScorer(post_reader)
        detection.load()
        self._embedder = embedder
        self._reader = embedder if embedder.name == self._scorer.embedder else default_embedder()

    async def triage(self, post: FlaggedPost, *, duplicate_of: str | None = None) -> Triage:
        """Return the findings; groups and hate are filled in whatever the route.

        `duplicate_of` is the key of an earlier case with the same post. The reason is a sentence for the moderator.
        Raises ModelUnavailable or ModelRefused when an embedding endpoint fails.
        """
        # Most posts take a millisecond, but a long hostile one must not hold up the event loop.
        whole, language = await asyncio.to_thread(self._read, post)
        text = whole[:LONGEST_READ]
        reading = await self._reading(text)
        embedding = reading.vector if self._reader is self._embedder else (await self._embedder.queries([text]))[0]
        scored = await self._scorer.score(post.text, whole, reading, language)
        scores, threat = scored.scores, scored.threat
        settings = self._settings.in_language(language)
        hints = scored.self_harm >= settings.self_harm_from
        escalation = partial(routing_rules.escalation, hints_at_self_harm=hints)
        rule = await asyncio.to_thread(escalation, post.text, threat, settings.threat_from)
        groups = scores.attacked(settings.group_threshold)
        decision = routing_rules.decide(rule, scores, settings, duplicate_of)
        if not text and decision.route is Route.DISMISS and duplicate_of is None:
            decision = routing_rules.RoutingDecision(Route.DOUBT, "It has no text that can be read.")
        by_thread: tuple[GroupScore, ...] = ()
        if decision.route in (Route.DRAFT, Route.DOUBT):
            by_thread = await self._meant(post, text, language, scores, groups)
        groups = by_thread or groups
        return Triage(
            language=language,
            groups=groups,
            hate=round(scores.hate, 4),
            threat=round(threat, 4),
            route=decision.route,
            reason=decision.reason or describe_attack(groups, scores.hate, by_thread=bool(by_thread)),
            embedding=vector.pack(embedding),
            summed=_packed(self._scorer.layers, scored.summed),
            reread=_packed(self._scorer.reread_by, scored.reread),
        )

    async def _meant(
        self, post: FlaggedPost, text: str, language: str, alone: Scores, groups: tuple[GroupScore, ...]
    ) -> tuple[GroupScore, ...]:
        """Return the groups that the thread shows `text` to mean, if it doesn't name them itself.

        How hateful the post is, and whether it threatens, is read in the post alone.
        """
        if not post.context or not await asyncio.to_thread(thread.means_others, text, language, groups):
            return ()
        for together in await asyncio.to_thread(lambda: [*thread.with_earlier(text, post.context, LONGEST_READ)]):
            scored = await self._scorer.score(together, together, await self._reading(together), language)
            if meant := thread.shown(alone, scored.scores):
                return meant
        return ()

    async def _reading(self, text: str) -> Reading:
        if isinstance(self._reader, E5Embedder):
            return await self._reader.read(text)
        return Reading((await self._reader.queries([text]))[0])

    def _read(self, post: FlaggedPost) -> tuple[str, str]:
        """Return the text that is read, and its language."""
        text = normalise(post.text)
        language, _ = detection.detect(text[:LONGEST_READ], post.language, threshold=self._settings.language_threshold)
        return text, language


def _packed(layers: str, reading: Vectors | None) -> str | None:
    """Return a reading as a case keeps it: with the name of its layers, by which those of another release are told."""
    return None if reading is None else f"{layers}:{vector.pack(reading)}"


def describe_attack(groups: tuple[GroupScore, ...], hate: float, *, by_thread: bool = False) -> str:
    """Describe whom a post that gets a draft attacks, as surely as `hate` allows, and whether its thread shows that."""
    if not groups:
        return "It may be hateful, but it is unclear whom it attacks."
    seems = "seems to" if hate >= HATE_IS_HIGH else "may"
    attack = f"It {seems} attack {listed_groups([score.group for score in groups])}."
    return f"{attack} Whom it means is taken from the thread." if by_thread else attack


def listed_groups(groups: list[TargetGroup]) -> str:
    """Return the groups' names as a list for a sentence."""
    *first, last = [group.label for group in groups]
    return f"{', '.join(first)} and {last}" if first else last
