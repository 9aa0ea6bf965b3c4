"""Factories of posts, evidence, triage, groundings, drafts and cases; a test passes only the values it is about."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from core.domain import (
    Case,
    CaseState,
    Check,
    Draft,
    Evidence,
    FlaggedPost,
    Grounding,
    GroupScore,
    Intent,
    Origin,
    Route,
    Source,
    TargetGroup,
    Triage,
)
from kb.claims.facts import evidence_of
from kb.claims.loading import load_claims
from kb.claims.reviews import Reviews

START = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
POST_TEXT = "Zorblaxians ruin everything."
REPLY_TEXT = "Zorblaxians built the bridge. Facts show it."
EVIDENCE_TEXT = "All are born free and equal in dignity and rights."


def make_post(
    number: int | str = 1,
    text: str = POST_TEXT,
    *,
    platform: str = "forum",
    language: str | None = None,
    author_id: str | None = None,
    thread_id: str | None = None,
    reason: str | None = None,
    url: str | None = None,
    context: tuple[str, ...] = (),
) -> FlaggedPost:
    """Make a flagged post; its id on the platform is `number`."""
    return FlaggedPost(
        platform=platform, post_id=str(number), text=text, language=language, author_id=author_id, reason=reason,
        url=url, context=context, thread_id=thread_id,
    )  # fmt: skip


def make_source(
    *,
    institution: str = "United Nations",
    title: str = "Universal Declaration of Human Rights",
    symbol: str = "A/RES/217(III)",
    locator: str = "Article 1",
    year: int = 1948,
    url: str = "https://docs.un.org/en/A/RES/217(III)",
) -> Source:
    """Make the source of a statement."""
    return Source(institution=institution, title=title, symbol=symbol, locator=locator, year=year, url=url)


def make_evidence(
    id: str = "e1",
    text: str = EVIDENCE_TEXT,
    *,
    groups: Sequence[TargetGroup] = (TargetGroup.OTHER,),
    answers: Sequence[str] = (),
    source: Source | None = None,
    summary: str = "",
    language: str = "en",
    score: float = 0.0,
) -> Evidence:
    """Make a statement of evidence."""
    return Evidence(
        id=id, text=text, groups=tuple(groups), answers=tuple(answers), source=source or make_source(),
        summary=summary, language=language, score=score,
    )  # fmt: skip


def make_triage(
    *groups: TargetGroup,
    route: Route = Route.DRAFT,
    language: str = "en",
    hate: float = 0.9,
    score: float = 0.9,
    reason: str = "it blames a group",
    embedding: str | None = None,
) -> Triage:
    """Make triage's finding on a post against `groups`, by default migrants."""
    scores = tuple(GroupScore(group=group, score=score) for group in groups or (TargetGroup.MIGRANTS,))
    return Triage(language=language, groups=scores, hate=hate, route=route, reason=reason, embedding=embedding)


def make_grounding(*evidence: Evidence, note: str = "") -> Grounding:
    """Make a grounding in `evidence`, by default one statement."""
    return Grounding(evidence=evidence or (make_evidence(),), note=note)


def make_draft(
    case_key: str = "forum/1",
    number: int = 1,
    text: str = REPLY_TEXT,
    *,
    intent: Intent = Intent.INFORMATIVE,
    origin: Origin = Origin.COMPOSER,
    model: str = "none",
    language: str = "en",
    checks: Sequence[Check] = (),
    note: str = "",
    created_at: datetime = START,
) -> Draft:
    """Make draft `number` of a case."""
    return Draft(
        case_key=case_key, number=number, text=text, intent=intent, origin=origin, model=model, language=language,
        checks=tuple(checks), note=note, created_at=created_at,
    )  # fmt: skip


def make_case(
    state: CaseState = CaseState.PENDING,
    *,
    post: FlaggedPost | None = None,
    version: int = 4,
    triage: Triage | None = None,
    grounding: Grounding | None = None,
    drafts: Sequence[Draft] = (),
) -> Case:
    """Make a case as the ledger would return it, received and last changed at START."""
    return Case(
        post=post or make_post(), state=state, version=version, received_at=START, updated_at=START, triage=triage,
        grounding=grounding, drafts=tuple(drafts),
    )  # fmt: skip


def facts_on_file(*names: str) -> tuple[Evidence, ...]:
    """Return shipped facts by their ids, in English, as evidence that is tied to no claim."""
    facts = load_claims().facts
    return tuple(evidence_of(facts[name], "en", (), Reviews()) for name in names)
