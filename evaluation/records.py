"""The records of an evaluation: posts with references, systems, their drafts, and the blind samples made from them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from core.domain import MAX_TEXT, Evidence, Intent, Record, TargetGroup, Text

REFERENCES = "references"
"""The pseudo-system whose drafts are the posts' first references, so that people's answers are scored like drafts."""


class EvaluationPost(Record):
    """One post to answer, with people's answers to it; `groups` and `references` are empty if unknown."""

    id: Annotated[Text, Field(min_length=1, max_length=200)]
    text: Annotated[Text, Field(min_length=1, max_length=MAX_TEXT)]
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")] | None = None
    groups: tuple[TargetGroup, ...] = ()
    intent: Intent = Intent.INFORMATIVE
    references: tuple[Text, ...] = ()


class System(Record):
    """One way of drafting: a strategy, a chat model (`none` if it uses no model) and a retriever."""

    strategy: str
    model: str
    retriever: str

    @property
    def name(self) -> str:
        """Return the system's name in reports: `strategy/model/retriever`."""
        return "/".join((self.strategy, self.model, self.retriever))


class SystemDraft(Record):
    """One system's answer to one post; if it found none, `text` is empty and `note` says why.

    `writer` is the strategy that wrote the text: not the system's own if that one's replies failed the checks.
    `passes` tells whether the guard lets the text through. `seconds` is the time that drafting took.
    """

    post_id: str
    system: str
    text: str
    language: str
    intent: Intent
    groups: tuple[TargetGroup, ...] = ()
    writer: str = ""
    passes: bool = False
    counter_claim: str = ""
    evidence: tuple[Evidence, ...] = ()
    note: str = ""
    seconds: float = 0.0


class Sample(Record):
    """A draft as a metric or a judge sees it: with the post and the evidence, but without its author."""

    post: str
    text: str
    language: str
    intent: Intent = Intent.INFORMATIVE
    groups: tuple[TargetGroup, ...] = ()
    references: tuple[str, ...] = ()
    counter_claim: str = ""
    evidence: tuple[Evidence, ...] = ()


class DraftScores(Record):
    """The values of one draft by metric; metrics without a value for it are left out."""

    post_id: str
    system: str
    values: dict[str, float]


def blind(draft: SystemDraft, post: EvaluationPost, *, with_evidence: bool = True) -> Sample:
    """Return a draft as metrics and judges see it."""
    # A reference is not measured against itself.
    references = post.references[1:] if draft.system == REFERENCES else post.references
    return Sample(
        post=post.text,
        text=draft.text,
        language=draft.language,
        intent=draft.intent,
        groups=draft.groups,
        references=references,
        counter_claim=draft.counter_claim,
        evidence=draft.evidence if with_evidence else (),
    )
