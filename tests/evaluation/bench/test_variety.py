"""A campaign with one claim is not answered with one text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner

from core.domain import Intent
from evaluation.bench import variety
from evaluation.bench.command import bench
from evaluation.bench.variety import MOST_OF_A_CAMPAIGN, Variety, measure, table
from kb.claims.loading import load_claims
from kb.claims.records import Language

SHORT_OF_WORDS = {
    ("jews-banks-money", Intent.DENOUNCING, "en"),
    ("migrants-live-off-benefits", Intent.POSITIVE, "en"),
    ("migrants-slur", Intent.INFORMATIVE, "en"),
    ("lgbt-danger-to-children", Intent.POSITIVE, "es"),
    ("other-white-people-guilty", Intent.INFORMATIVE, "es"),
    ("people-of-colour-lazy", Intent.DENOUNCING, "es"),
    ("disabled-life-not-worth", Intent.DENOUNCING, "it"),
    ("lgbt-danger-to-children", Intent.DENOUNCING, "it"),
    ("lgbt-danger-to-children", Intent.POSITIVE, "it"),
    ("people-of-colour-lazy", Intent.DENOUNCING, "it"),
    ("women-lie-about-rape", Intent.QUESTIONING, "it"),
    ("lgbt-danger-to-children", Intent.INFORMATIVE, "eu"),
    ("lgbt-danger-to-children", Intent.POSITIVE, "eu"),
    ("lgbt-danger-to-children", Intent.QUESTIONING, "eu"),
    ("people-of-colour-lazy", Intent.DENOUNCING, "eu"),
    ("people-of-colour-lazy", Intent.POSITIVE, "eu"),
    ("people-of-colour-lazy", Intent.QUESTIONING, "eu"),
    ("people-of-colour-roma-thieves", Intent.DENOUNCING, "eu"),
}
"""Campaigns for which too few replies of up to 280 characters are on file (13 to 21): remove those that get more."""
MOST_WHERE_SHORT = 0.13


@pytest.fixture
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Leave only every n-th common claim on file; return how many remain."""
    files = load_claims()
    common = [claim for claim in files.claims.values() if claim.common]
    some = replace(files, claims={claim.id: claim for claim in common[:: request.param]})
    monkeypatch.setattr(variety, "load_claims", lambda: some)
    return len(some.claims)


@pytest.mark.parametrize("few", [pytest.param(1, marks=pytest.mark.slow), 30], ids=["each", "a few"], indirect=True)
@pytest.mark.parametrize("platform", ["forum", "twitter"])
@pytest.mark.parametrize("language", ["en", "es", "it", "eu"])
def test_no_reply_goes_to_more_than_a_tenth_of_two_hundred_posts_with_a_common_claim(
    few: int, platform: str, language: Language
) -> None:
    varieties = measure(200, platform, language)
    assert len(varieties) == few * len(Intent)
    assert {told.intent for told in varieties} == set(Intent)
    repeated = [told for told in varieties if told.share > MOST_OF_A_CAMPAIGN]
    short = SHORT_OF_WORDS if platform == "twitter" else set()
    assert [told for told in repeated if (told.claim, told.intent, language) not in short] == []
    assert max(told.share for told in varieties) <= MOST_WHERE_SHORT


def test_the_table_has_a_line_a_claim() -> None:
    lines = table([Variety("c", intent, 0.055, 24) for intent in Intent]).splitlines()
    assert lines[-1] == "| c |" + " 5.5% of 24 |" * len(Intent)
    assert len(lines) == 3


def test_the_bench_prints_the_repetition() -> None:
    result = CliRunner().invoke(bench, ["variety", "--posts", "2"])
    assert result.exit_code == 0
    assert "2 posts a claim" in result.output
