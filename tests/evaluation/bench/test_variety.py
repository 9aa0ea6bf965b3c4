"""A campaign with one claim is not answered with one text."""

from __future__ import annotations

from click.testing import CliRunner

from core.domain import Intent
from evaluation.bench.command import bench
from evaluation.bench.variety import MOST_OF_A_CAMPAIGN, Variety, measure, table


def test_no_reply_goes_to_more_than_a_tenth_of_two_hundred_posts_with_a_common_claim() -> None:
    varieties = measure(200, "forum", "en")
    assert [variety for variety in varieties if variety.share > MOST_OF_A_CAMPAIGN] == []
    assert {variety.intent for variety in varieties} == set(Intent)


def test_the_table_has_a_line_a_claim() -> None:
    lines = table([Variety("c", intent, 0.055, 24) for intent in Intent]).splitlines()
    assert lines[-1] == "| c |" + " 5.5% of 24 |" * len(Intent)
    assert len(lines) == 3


def test_the_bench_prints_the_repetition() -> None:
    result = CliRunner().invoke(bench, ["variety", "--posts", "2"])
    assert result.exit_code == 0
    assert "2 posts a claim" in result.output
