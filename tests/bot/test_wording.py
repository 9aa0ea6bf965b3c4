from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.reasons import REASONS
from bot.wording import INTENT_WORDS, duration
from core.domain import Intent, TargetGroup


def test_a_duration_is_told_in_its_largest_fitting_unit() -> None:
    lengths = [timedelta(seconds=-3), timedelta(seconds=119), timedelta(minutes=119), timedelta(hours=47), timedelta(3)]
    assert [duration(length) for length in lengths] == ["0 s", "119 s", "119 min", "47 h", "3 days"]


def test_every_group_and_intent_has_words() -> None:
    assert all(group.label for group in TargetGroup)
    assert set(INTENT_WORDS) == set(Intent)


def test_the_guide_says_when_to_choose_each_reason() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "moderators.md").read_text()
    for key, reason in enumerate(REASONS, 1):
        assert f"| <kbd>{key}</kbd> | {reason.words} | " in guide
