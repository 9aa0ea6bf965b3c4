"""What answers a post: evidence with its source, the claims that were matched, and the plan of the search."""

from __future__ import annotations

from typing import Literal

from core.domain.record import Intent, Record, TargetGroup
from core.domain.triage import AttackKind


class Source(Record):
    """The place where a statement can be looked up."""

    institution: str
    title: str
    symbol: str
    locator: str
    year: int
    url: str


class Evidence(Record):
    """One quotable statement with its source; `answers` lists claims it refutes, `score` is its relevance.

    `summary` stands for a long text in a draft's prompt and is empty for a short one. It was written by a model: what
    a reply states is checked against `text`. The rest is known of facts on file only: `short` is the text for tight
    limits, `region` where it holds, `strength` "fair" for what is contested or a single study's, `secondhand` for what
    a report tells about the source, `provisional` for words that no speaker of their language has read, and `claims`
    are the ids of the claims it answers. `preference` is how much likelier than others moderators approve it here, as
    log odds; 0 where nothing was learned.
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
    """One calm sentence on file that refutes a claim; `provisional` when no speaker of its language has read it.

    `preference` is as that of evidence.
    """

    intent: Intent
    text: str
    provisional: bool = False
    preference: float = 0.0


class Claim(Record):
    """What a post asserts of a group, as matched to the claims on file: `gist` names it for a moderator.

    `counter_claims` are those in the language of the reply, and `score` is the probability that the post makes it.
    """

    id: str
    kind: AttackKind
    gist: str
    counter_claims: tuple[CounterClaim, ...] = ()
    score: float = 0.0


class Frame(Record):
    """One aspect of how a post works on its readers, such as its power dynamics, as a model read it."""

    name: str
    reading: str


class VotedClaim(Record):
    """One counter-claim that a model proposed, and how many of its votes it got."""

    text: str
    votes: int


class Plan(Record):
    """What a strategy decided about a post before the search; whatever it does not need stays empty.

    `claims` are what the post asserts, `counter_claim` is the one sentence chosen to refute them, of those `voted` on,
    and `queries` are searched for beside the post itself. `paragraphs` is how many are searched for even where claims
    on file are matched; 0: only where none is. `frames` are a model's reading of the post, and `note` says what did not
    come about as the strategy wanted.
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
    """The evidence for a post, best first, the claims it answers, in their turn, and the plan it was searched with.

    The evidence is empty when nothing fits, and then `note` says so.
    """

    evidence: tuple[Evidence, ...]
    note: str = ""
    plan: Plan = Plan()
    claims: tuple[Claim, ...] = ()
