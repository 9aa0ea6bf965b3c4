from __future__ import annotations

from pathlib import Path

import pytest

from core.domain import Intent, TargetGroup
from core.errors import BadSettings, KnowledgeBaseError
from kb.claims.loading import load_claims
from kb.claims.ranking import COLD, FILE, FOLDER, ClaimRanker, Occasion, Weights, load_ranker, save_ranker

FILES = load_claims()
FIRST, SECOND = list(FILES.claims.values())[:2]
SCORES = {FIRST.id: 0.6, SECOND.id: 0.4}
OCCASION = Occasion("en", TargetGroup.MIGRANTS)


def filed(data_dir: Path, name: str, weights: dict[str, float]) -> Path:
    folder = data_dir / FOLDER / name
    folder.mkdir(parents=True)
    return save_ranker(folder, Weights(learned_from="x", weights=weights))


def test_without_learning_everything_is_as_likely_as_before() -> None:
    fact = FILES.facts[FIRST.facts[0]]
    assert COLD.in_order([FIRST, SECOND], SCORES, OCCASION) == [FIRST, SECOND]
    assert COLD.fact(FIRST, fact, OCCASION) == COLD.counter(FIRST, "No.", Intent.POSITIVE, OCCASION) == 0.0


def test_an_approved_claim_overtakes_a_surer_one_and_a_little_liking_does_not() -> None:
    liked, little = ({f"claim:{SECOND.id}": weight} for weight in (1.0, 0.5))
    assert ClaimRanker(liked).in_order([FIRST, SECOND], SCORES, OCCASION) == [SECOND, FIRST]
    assert ClaimRanker(little).in_order([FIRST, SECOND], SCORES, OCCASION) == [FIRST, SECOND]


def test_a_fact_may_be_liked_for_posts_against_one_group_alone() -> None:
    fact = FILES.facts[FIRST.facts[0]]
    ranker = ClaimRanker({f"fact.kind:{fact.kind}|group:migrants": 2.0})
    assert ranker.fact(FIRST, fact, OCCASION) == 2.0
    assert ranker.fact(FIRST, fact, Occasion("en", TargetGroup.JEWS)) == 0.0


def test_only_the_named_ranker_serves(tmp_path: Path) -> None:
    filed(tmp_path, "spring", {"claim:a": 1.0})
    assert load_ranker(tmp_path, "") is COLD
    assert load_ranker(tmp_path, "spring").weights == {"claim:a": 1.0}
    with pytest.raises(BadSettings, match="spring"):
        load_ranker(tmp_path, "autumn")


def test_a_torn_file_is_told_with_its_place(tmp_path: Path) -> None:
    path = filed(tmp_path, "spring", {})
    path.write_text(path.read_text()[:9])
    with pytest.raises(KnowledgeBaseError, match=FILE):
        load_ranker(tmp_path, "spring")
