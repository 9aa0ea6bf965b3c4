"""What replies are built from: evidence with its sources, the matched claims, and the plan of the search."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from core.domain.record import Intent, Record, TargetGroup


class AttackKind(StrEnum):
    """How a post attacks people; each kind is answered differently."""

    CLAIM = "claim"
    EXCLUSION = "exclusion"
    DEHUMANISATION = "dehumanisation"
    INSULT = "insult"
    THREAT = "threat"


class Source(Record):
    """Where a statement can be looked up."""

    institution: str
    title: str
    symbol: str
    locator: str
    year: int
    url: str


class Evidence(Record):
    """One quotable statement with its source.

    - `answers` lists claims that it refutes; `score` is its relevance.
    - `summary` replaces a long text in the prompt of a draft and is empty for short texts. A model wrote it, so what a
      reply states is checked against `text`.

    The other fields are known only for facts on file:

    - `short` is the wording for tight length limits; `region` is where the fact holds.
    - `strength` is "fair" if the fact is contested or rests on a single study.
    - `secondhand`: a report about the source is quoted, not the source itself.
    - `provisional`: no speaker of the language has read the wording yet.
    - `claims` are the ids of the claims that it answers.
    - `preference` is how much likelier moderators here are to approve it than other facts, as log odds; 0 if nothing
      was learned.
    """

    id: str
    text: str
    summary: str = ""
    groups: tuple[TargetGroup, ...]
    source: Source
    answers: tuple[str, ...] = ()
    language: str = "en"
    score: float = 0.0
    short: str = ""
    region: str = ""
    strength: Literal["strong", "fair"] = "strong"
    secondhand: bool = False
    provisional: bool = False
    claims: tuple[str, ...] = ()
    preference: float = 0.0


class CounterClaim(Record):
    """One calm sentence on file that refutes a claim.

    `provisional`: no speaker of its language has read it yet. `preference` is defined as in `Evidence`.
    """

    intent: Intent
    text: str
    provisional: bool = False
    preference: float = 0.0


class Claim(Record):
    """What a post asserts about a group, matched to the claims on file.

    `gist` describes the claim to a moderator. `counter_claims` are those in the language of the reply. `score` is the
    probability that the post makes the claim. `unsure` means that what is on file may not answer the post.
    """

    id: str
    kind: AttackKind
    gist: str
    counter_claims: tuple[CounterClaim, ...] = ()
    score: float = 0.0
    unsure: bool = False


class Frame(Record):
    """One aspect of how a post affects its readers, such as its power dynamics, as a model reads it."""

    name: str
    reading: str


class VotedClaim(Record):
    """One counter-claim that a model proposed, and the number of votes that the model gave it."""

    text: str
    votes: int


class Plan(Record):
    """What a strategy decided about a post before the search; fields that it does not need stay empty.

    - `claims`: what the post asserts.
    - `counter_claim`: the sentence chosen to refute them, out of those `voted` on.
    - `queries`: what is searched for besides the post itself.
    - `paragraphs`: how many paragraphs are searched for even if claims on file match; 0: only if none match.
    - `frames`: a model's reading of the post.
    - `note`: which part of the plan failed.
    """

    strategy: str = ""
    claims: tuple[str, ...] = ()
    counter_claim: str = ""
    voted: tuple[VotedClaim, ...] = ()
    queries: tuple[str, ...] = ()
    paragraphs: int = 0
    frames: tuple[Frame, ...] = ()
    note: str = ""


class Grounding(Record):
    """The evidence for a post and the claims that it answers, both best first, and the plan of the search.

    If nothing fits, the evidence is empty and `note` says so.
    """

    evidence: tuple[Evidence, ...]
    note: str = ""
    plan: Plan = Plan()
    claims: tuple[Claim, ...] = ()

    @property
    def is_unsure(self) -> bool:
        """Whether what is on file may not answer the post; then it gets no first draft."""
        return any(claim.unsure for claim in self.claims)

    def requested(self) -> Grounding:
        """Return the same for a draft that somebody requests, for whom nothing here is too unsure."""
        return self.model_copy(
            update={"claims": tuple(claim.model_copy(update={"unsure": False}) for claim in self.claims)}
        )
