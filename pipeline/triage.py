"""Triage one flagged post: its language, whom it attacks, how hateful it is, and what to do with it."""

from __future__ import annotations

import asyncio

from core.domain import FlaggedPost, GroupScore, Route, TargetGroup, Triage
from core.settings import TriageSettings
from models.e5 import E5Embedder, Reading
from models.embed import Embedder, Vectors
from models.embedders import default_embedder
from pipeline import routing_rules, vector
from pipeline.heads import HATE_IS_HIGH, Heads, Scores
from pipeline.languages import detection
from pipeline.normalise import normalise
from pipeline.post_reader import PostReader
from pipeline.second_opinion import THREAT, SecondOpinion
from pipeline.threats import ThreatHead

LONGEST_READ = 1200
"""Characters that are embedded; the topic of a post shows long before."""
NOTHING = Scores(dict.fromkeys(TargetGroup, 0.0), 0.0, 0.0)
"""The scores of a post without text, about which the heads could only guess."""


class Triager:
    """The first stage of a case. Safe to call from many tasks of one event loop.

    The heads read the default embedder's vectors only. If the knowledge base uses another embedder, the default one is
    loaded as well, for the heads; its threads end with the process.
    """

    def __init__(self, embedder: Embedder, settings: TriageSettings, post_reader: PostReader | None = None) -> None:
        self._settings = settings
        self._heads = Heads.load()
        self._threats = ThreatHead.load()
        self._opinion = SecondOpinion.load()
        self._post_reader = post_reader
        detection.load()
        self._embedder = embedder
        self._reader = embedder if embedder.name == self._heads.embedder else default_embedder()

    async def triage(self, post: FlaggedPost, *, duplicate_of: str | None = None) -> Triage:
        """Return the findings; groups and hate are filled in whatever the route.

        `duplicate_of` is the key of an earlier case with the same post. The reason is a sentence for the moderator.
        Raises ModelUnavailable or ModelRefused when an embedding endpoint fails.
        """
        # Most posts take a millisecond, but a long hostile one must not hold up the event loop.
        whole, language = await asyncio.to_thread(self._read, post)
        text = whole[:LONGEST_READ]
        reading = await self._reading(text)
        own_vector = reading.vector
        embedding = own_vector if self._reader is self._embedder else (await self._embedder.queries([text]))[0]
        scores = self._heads.score(own_vector, text, reading.tokens) if text else NOTHING
        # A post without text leaves nothing to form a second opinion on.
        summed = reading.summed if text else None
        if summed is not None:
            scores = scores.beside(self._opinion, summed)
        settings = self._settings.in_language(language)
        threat = await asyncio.to_thread(self._threat, post.text, own_vector, summed)
        reread: Vectors | None = None
        if self._post_reader is not None:
            reread, scores, threat = await _read_again(self._post_reader, whole, language, scores, threat)
        rule = await asyncio.to_thread(routing_rules.escalation, post.text, threat, settings.threat_from)
        groups = scores.attacked(settings.group_threshold)
        decision = routing_rules.decide(rule, scores, settings, duplicate_of)
        if not text and decision.route is Route.DISMISS and duplicate_of is None:
            decision = routing_rules.RoutingDecision(Route.DOUBT, "It has no text that can be read.")
        return Triage(
            language=language,
            groups=groups,
            hate=round(scores.hate, 4),
            threat=round(threat, 4),
            route=decision.route,
            reason=decision.reason or describe_attack(groups, scores.hate),
            embedding=vector.pack(embedding),
            summed=_packed(self._opinion, summed),
            reread=_packed(self._post_reader.opinion, reread) if self._post_reader else None,
        )

    async def _reading(self, text: str) -> Reading:
        if isinstance(self._reader, E5Embedder):
            return await self._reader.read(text)
        return Reading((await self._reader.queries([text]))[0])

    def _threat(self, text: str, embedding: Vectors, summed: Vectors | None) -> float:
        """Return how likely the text is a threat, by the heads and the layers for posts."""
        threat = self._threats.score(text, embedding)
        return threat if summed is None else self._opinion.beside({THREAT: threat}, summed)[THREAT]

    def _read(self, post: FlaggedPost) -> tuple[str, str]:
        """Return the text that is read, and its language."""
        text = normalise(post.text)
        language, _ = detection.detect(text[:LONGEST_READ], post.language, threshold=self._settings.language_threshold)
        return text, language


async def _read_again(
    reader: PostReader, text: str, language: str, scores: Scores, threat: float
) -> tuple[Vectors | None, Scores, float]:
    """Return the larger model's reading of a post, if it read all of it at once, and the scores with its opinion."""
    reading = await reader.read(text, scores.hate, threat, language)
    if reading is None:
        return None, scores, threat
    whole = reading.whole
    return whole, scores if whole is None else scores.beside(reader.opinion, whole), reader.threat(threat, reading)


def _packed(opinion: SecondOpinion, reading: Vectors | None) -> str | None:
    """Return a reading as a case keeps it: with the name of its layers, by which readings of other ones are told."""
    return None if reading is None else f"{opinion.layers}:{vector.pack(reading)}"


def describe_attack(groups: tuple[GroupScore, ...], hate: float) -> str:
    """Describe in a sentence whom a post that gets a draft attacks, as surely as `hate` allows."""
    if not groups:
        return "It may be hateful, but it is unclear whom it attacks."
    seems = "seems to" if hate >= HATE_IS_HIGH else "may"
    return f"It {seems} attack {listed_groups([score.group for score in groups])}."


def listed_groups(groups: list[TargetGroup]) -> str:
    """Return the groups' names as a list for a sentence."""
    *first, last = [group.label for group in groups]
    return f"{', '.join(first)} and {last}" if first else last
