"""Turn entries on file into the pipeline's records, evidence and claims, in the language of a reply."""

from __future__ import annotations

from collections.abc import Callable

from core.domain import Claim, CounterClaim, Evidence, Intent, Source
from kb.claims.records import LANGUAGES, FiledClaim, FiledFact, Language
from kb.claims.reviews import Reviews


def language_on_file(language: str) -> Language | None:
    """Return a language that entries on file have; None for any other."""
    return next((known for known in LANGUAGES if known == language), None)


def evidence_of(
    fact: FiledFact, language: Language, claims: tuple[str, ...], reviews: Reviews, preference: float = 0.0
) -> Evidence:
    """Return a fact as evidence for `claims`, in a language."""
    return Evidence(
        id=fact.id,
        text=fact.text[language],
        groups=fact.groups,
        source=Source(
            institution=fact.institution,
            title=fact.title,
            symbol=fact.symbol,
            locator=fact.locator,
            year=fact.year,
            url=fact.url,
        ),
        language=language,
        short=fact.short[language],
        region=fact.region,
        strength=fact.strength,
        secondhand=fact.secondhand,
        provisional=reviews.provisional(fact.text[language], language),
        claims=claims,
        preference=round(preference, 4),
    )


def _no_preference(counter: str, intent: Intent) -> float:
    return 0.0


def claim_of(
    claim: FiledClaim,
    language: Language,
    score: float,
    reviews: Reviews,
    liked: Callable[[str, Intent], float] = _no_preference,
) -> Claim:
    """Return a claim with its counter-claims in a language; the gist is in English, like the desk.

    `liked` returns how much moderators prefer a counter-claim.
    """
    return Claim(
        id=claim.id,
        kind=claim.kind,
        gist=claim.gist["en"],
        counter_claims=tuple(
            CounterClaim(
                intent=intent,
                text=text,
                provisional=reviews.provisional(text, language),
                preference=round(liked(text, intent), 4),
            )
            for intent, by_language in claim.counter.items()
            for text in by_language.get(language, ())
        ),
        score=round(score, 4),
    )
