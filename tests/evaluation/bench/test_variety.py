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
    assert [told for told in varieties if told.share > MOST_OF_A_CAMPAIGN] == []


def test_the_table_has_a_line_a_claim() -> None:
    lines = table([Variety("c", intent, 0.055, 24) for intent in Intent]).splitlines()
    assert lines[-1] == "| c |" + " 5.5% of 24 |" * len(Intent)
    assert len(lines) == 3


def test_the_bench_prints_the_repetition() -> None:
    result = CliRunner().invoke(bench, ["variety", "--posts", "2"])
    assert result.exit_code == 0
    assert "2 posts a claim" in result.output
