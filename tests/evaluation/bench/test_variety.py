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


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.slow), 20], ids=["each claim", "two claims"])
def test_no_reply_goes_to_more_than_a_tenth_of_two_hundred_posts_with_a_common_claim(
    every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = load_claims()
    common = [claim for claim in files.claims.values() if claim.common]
    some = replace(files, claims={claim.id: claim for claim in common[::every]})
    monkeypatch.setattr(variety, "load_claims", lambda: some)
    varieties = measure(200, "forum", "en")
    assert len(varieties) == len(some.claims) * len(Intent)
    assert [told for told in varieties if told.share > MOST_OF_A_CAMPAIGN] == []
    assert {told.intent for told in varieties} == set(Intent)


def test_the_table_has_a_line_a_claim() -> None:
    lines = table([Variety("c", intent, 0.055, 24) for intent in Intent]).splitlines()
    assert lines[-1] == "| c |" + " 5.5% of 24 |" * len(Intent)
    assert len(lines) == 3


def test_the_bench_prints_the_repetition() -> None:
    result = CliRunner().invoke(bench, ["variety", "--posts", "2"])
    assert result.exit_code == 0
    assert "2 posts a claim" in result.output
