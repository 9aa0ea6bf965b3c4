"""What triage says of a post."""

from __future__ import annotations

from enum import StrEnum

from core.domain.draft import DraftRequest
from core.domain.record import Record, TargetGroup


class Route(StrEnum):
    """What triage decided to do with a post: in doubt, a moderator says first whether it is hateful at all."""

    DRAFT = "draft"
    DISMISS = "dismiss"
    DOUBT = "doubt"
    ESCALATE = "escalate"


class AttackKind(StrEnum):
    """How a post attacks people: each kind is answered in its own way."""

    CLAIM = "claim"
    EXCLUSION = "exclusion"
    DEHUMANISATION = "dehumanisation"
    INSULT = "insult"
    THREAT = "threat"


class GroupScore(Record):
    """A target group, and how sure triage is of it, 0 to 1."""

    group: TargetGroup
    score: float


class Triage(Record):
    """The verdict of triage: whom the post attacks, how hateful it is, in what language, and what to do.

    `language` is ISO 639-1 or `und`. `groups` is ordered by falling score. `hate` and `threat` are probabilities.
    `kind` is how the post attacks people, where that is clear enough. `embedding` is the post's query embedding as
    base64 of little-endian float16, so that grounding need not compute it again; `summed` is what the embedder's layers
    for posts make of it, where there are any: their name, a colon, numbers written that way.
    """

    language: str
    groups: tuple[GroupScore, ...]
    hate: float
    threat: float = 0.0
    kind: AttackKind | None = None
    route: Route
    reason: str
    embedding: str | None = None
    summed: str | None = None

    def leaves_in_doubt(self, request: DraftRequest) -> bool:
        """Tell whether a moderator has yet to say if the post is hateful; whoever asks for a draft has said so."""
        return self.route is Route.DOUBT and request.number == 1
