"""Check replies against one piece of evidence, with the checks that go by words alone."""

from __future__ import annotations

from core.domain import Evidence
from core.settings import GuardSettings
from pipeline.guard import GuardContext, word_checks
from pipeline.guard.material import material
from tests.factories import make_post

OPENING = {
    "en": "Nobody deserves less.",
    "es": "Nadie merece menos.",
    "it": "Nessuno merita di meno.",
    "eu": "Inork ez du gutxiago merezi.",
}
CHECKS = word_checks(GuardSettings(), judged=True)
YEAR = 2026


def stopped_by_words(evidence: Evidence, sentence: str, post: str = "…") -> dict[str, str]:
    """Return why hard checks fail a reply of an opening and `sentence`, in the evidence's language, by check."""
    context = GuardContext(make_post(text=post), evidence.language, evidence=(evidence,), year=YEAR)
    reply = material(f"{OPENING[evidence.language]} {sentence}", context)
    results = (check.check(reply, context) for check in CHECKS)
    return {result.name: result.detail for result in results if result.hard and not result.passed}
