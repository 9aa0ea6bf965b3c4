"""Words must let honest paraphrases of a fact on file pass, and stop what exchanges a figure, a source or a subject."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core.domain import Evidence, Source
from kb.claims.loading import load_claims
from tests.pipeline.guard.by_words import stopped_by_words

FACTS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("paraphrases.toml").read_text(encoding="utf-8"))[
    "fact"
]
filed_claims = cache(load_claims)


def stops(fact: dict[str, Any], sentence: str) -> list[str]:
    filed, language = filed_claims().facts[fact["id"]], fact["language"]
    source = Source(
        institution=filed.institution, title=filed.title, symbol=filed.symbol, locator="", year=filed.year, url=""
    )
    evidence = Evidence(id="1", text=filed.text[language], groups=(), source=source, language=language)
    return [f"{name}: {detail}" for name, detail in stopped_by_words(evidence, sentence).items()]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact['id']}-{fact['language']}")
def test_an_honest_paraphrase_passes_and_its_wrong_twin_does_not(fact: dict[str, Any]) -> None:
    assert {text: reasons for text in fact["good"] if (reasons := stops(fact, text))} == {}
    assert [text for text in fact["bad"] if not stops(fact, text)] == []
