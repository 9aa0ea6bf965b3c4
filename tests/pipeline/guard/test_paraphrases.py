"""Words must let honest paraphrases of a fact on file pass, and stop what exchanges a figure, a source or a subject."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core.domain import Evidence, FlaggedPost, Source
from core.settings import GuardSettings
from kb.claims.loading import load_claims
from pipeline.guard import GuardContext, word_checks
from pipeline.guard.material import material

FACTS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("paraphrases.toml").read_text(encoding="utf-8"))[
    "fact"
]
OPENING = {
    "en": "Nobody deserves less.",
    "es": "Nadie merece menos.",
    "it": "Nessuno merita di meno.",
    "eu": "Inork ez du gutxiago merezi.",
}
CHECKS = word_checks(GuardSettings(), judged=True)


filed_claims = cache(load_claims)


def stops(fact: dict[str, Any], sentence: str) -> list[str]:
    filed, language = filed_claims().facts[fact["id"]], fact["language"]
    source = Source(
        institution=filed.institution, title=filed.title, symbol=filed.symbol, locator="", year=filed.year, url=""
    )
    evidence = Evidence(id="1", text=filed.text[language], groups=(), source=source, language=language)
    post = FlaggedPost(platform="forum", post_id="1", text="…")
    context = GuardContext(post=post, language=language, evidence=(evidence,), year=2026)
    reply = material(f"{OPENING[language]} {sentence}", context)
    results = (check.check(reply, context) for check in CHECKS)
    return [f"{result.name}: {result.detail}" for result in results if result.hard and not result.passed]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact['id']}-{fact['language']}")
def test_an_honest_paraphrase_passes_and_its_wrong_twin_does_not(fact: dict[str, Any]) -> None:
    assert {text: reasons for text in fact["good"] if (reasons := stops(fact, text))} == {}
    assert [text for text in fact["bad"] if not stops(fact, text)] == []
