"""What triage finds out about a post."""

from __future__ import annotations

from enum import StrEnum

from core.domain.draft import DraftRequest
from core.domain.record import Record, TargetGroup


class Route(StrEnum):
    """What triage decided to do with a post; with `doubt`, a moderator first decides whether it is hateful at all."""

    DRAFT = "draft"
    DISMISS = "dismiss"
    DOUBT = "doubt"
    ESCALATE = "escalate"


class GroupScore(Record):
    """A target group, and how sure triage is of it, 0 to 1."""

    group: TargetGroup
    score: float


class Triage(Record):
    """The result of triage: whom the post attacks, how hateful it is, its language, and what happens next.

    - `language` is ISO 639-1 or `und`.
    - `groups` is sorted by falling score.
    - `hate` and `threat` are probabilities.
    - `embedding` is the post's query embedding as base64 of little-endian float16, so that grounding need not compute
      it again.
    - `summed` is the output of the embedder's layers for posts, if it has any: their name, a colon, and numbers in the
      same encoding.
    - `reread` is what a larger model that read the post made of it, in the same form.
    """

    language: str
    groups: tuple[GroupScore, ...]
    hate: float
    threat: float = 0.0
    route: Route
    reason: str
    embedding: str | None = None
    summed: str | None = None
    reread: str | None = None

    def leaves_in_doubt(self, request: DraftRequest) -> bool:
        """Tell whether a moderator must still decide if the post is hateful; requesting a redraft counts as a yes."""
        return self.route is Route.DOUBT and request.number == 1
