"""What is shipped: that it says enough, and that what it says of a norm holds as far as the norm does."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from core.domain import Intent, TargetGroup
from kb.claims.loading import load_claims
from kb.claims.records import LANGUAGES, FactKind, Language

FILES = load_claims()
CHARTER = "12012P/TXT"
BINDS: dict[Language, str] = {
    "en": r"(?=.*\binstitutions\b)(?=.*\b([Ss]tates|its members)\b)(?=.*\b(implement|apply|applying) EU law)",
    "es": r"(?=.*\binstituciones\b)(?=.*\bEstados\b)(?=.*\baplica[nr] (su|el) [Dd]erecho\b)",
    "it": r"(?=.*\bistituzioni\b)(?=.*\bStati\b)(?=.*\b(attuano|applicano) il diritto\b)",
    "eu": r"(?=.*\berakundeak\b)(?=.*\bestatu)(?=.*zuzenbidea aplikatz)",
}
"""Words by which a sentence says whom the Charter binds, and when (its article 51)."""
APPLIES: dict[Language, str] = {
    "en": r"([Ww]here|when) EU law applies|in the application of EU law",
    "es": r"rige el derecho de la UE|se aplica el derecho de la UE|al aplicar el Derecho de la UE",
    "it": r"(vale|vige|applica|attua) il diritto (dell')?UE",
    "eu": r"EBko zuzenbidea(ren (eremuan|esparruan)| aplikatz)",
}
"""The same in a few words, in which only the second half has room."""


def test_every_group_has_claims_enough() -> None:
    counts = Counter(FILES.group_of(claim) for claim in FILES.claims.values())
    assert {group: counts[group] for group in TargetGroup if counts[group] < 25} == {}
    assert counts.total() >= 250


def test_common_claims_have_three_counter_claims_for_each_intent_and_language() -> None:
    common = [claim for claim in FILES.claims.values() if claim.common]
    assert len(common) >= 40
    assert not [
        (claim.id, intent, language)
        for claim in common
        for intent in Intent
        for language in LANGUAGES
        if len(set(claim.counter[intent][language])) < 3
    ]


def test_enough_facts_are_no_norms() -> None:
    assert sum(fact.kind is not FactKind.NORM for fact in FILES.facts.values()) >= 300


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_statement_of_the_charter_says_whom_it_binds_and_when(language: Language) -> None:
    of_charter = [fact for fact in FILES.facts.values() if fact.symbol == CHARTER]
    assert len(of_charter) >= 10
    unlimited = [fact.text[language] for fact in of_charter if not re.match(BINDS[language], fact.text[language])]
    unlimited += [fact.short[language] for fact in of_charter if not re.search(APPLIES[language], fact.short[language])]
    assert unlimited == []


def test_every_region_is_written_in_one_way_and_used() -> None:
    assert {fact.region for fact in FILES.facts.values()} == FILES.regions
    assert len({region.casefold() for region in FILES.regions}) == len(FILES.regions)
    assert all(region[0].isupper() for region in FILES.regions)
    assert not [region for region in FILES.regions if re.search(r"\b(EU|US|UK)\b", region)]


def test_what_was_seen_on_a_blog_or_in_an_encyclopaedia_is_second_hand() -> None:
    copies = re.compile(r"//[^/]*(blogspot|wordpress|wikipedia|kampuspedia)\.")
    seen_there = [fact for fact in FILES.facts.values() if copies.search(fact.seen_at)]
    assert len(seen_there) >= 8
    assert [fact.id for fact in seen_there if not fact.secondhand] == []
