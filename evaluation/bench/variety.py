"""Measure how much replies to a campaign repeat: many posts with the same claim, answered from sentences on file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from core.domain import FlaggedPost, Intent
from core.settings import GuardSettings
from kb.claims.facts import claim_of, evidence_of
from kb.claims.loading import ClaimFiles, load_claims
from kb.claims.records import FiledClaim, Language
from kb.claims.reviews import Reviews
from pipeline.answers import answers
from pipeline.guard import GuardContext, limit_for

MOST_OF_A_CAMPAIGN = 0.1
"""The largest share of a campaign's posts that may get the same reply."""


@dataclass(frozen=True)
class Variety:
    """The replies to a campaign with one claim.

    `share` is the share of posts that get the commonest reply, 1 if no reply could be made.
    """

    claim: str
    intent: Intent
    share: float
    distinct: int


def measure(posts: int, platform: str, language: Language) -> list[Variety]:
    """Answer `posts` posts with the same text for each common claim, in each intent."""
    files = load_claims()
    common = [claim for claim in files.claims.values() if claim.common]
    return [_campaign(files, claim, intent, posts, platform, language) for claim in common for intent in Intent]


def table(varieties: Iterable[Variety]) -> str:
    """Return a Markdown table, a line per claim: the commonest reply's share and the distinct replies, by intent."""
    by_claim: dict[str, list[Variety]] = {}
    for variety in varieties:
        by_claim.setdefault(variety.claim, []).append(variety)
    lines = ["| claim | " + " | ".join(Intent) + " |", "|---|" + "--:|" * len(Intent)]
    for claim, row in by_claim.items():
        cells = (f"{variety.share:.1%} of {variety.distinct}" for variety in row)
        lines.append(f"| {claim} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _campaign(
    files: ClaimFiles, filed: FiledClaim, intent: Intent, posts: int, platform: str, language: Language
) -> Variety:
    facts = tuple(evidence_of(files.facts[name], language, (filed.id,), Reviews()) for name in filed.facts)
    claim = claim_of(filed, language, 1.0, Reviews())
    limit = limit_for(platform, GuardSettings())
    replies: Counter[str] = Counter()
    for number in range(posts):
        post = FlaggedPost(platform=platform, post_id=f"campaign-{number}", text=filed.wordings[language][0])
        context = GuardContext(post=post, language=language, intent=intent, evidence=facts, claims=(claim,))
        answer = next(answers(context, limit, 1), None)
        if answer:
            replies[answer.text] += 1
    return Variety(filed.id, intent, max(replies.values(), default=posts) / posts, len(replies))
