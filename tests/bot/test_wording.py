from __future__ import annotations

from datetime import timedelta

from bot.wording import INTENT_WORDS, duration
from core.domain import Intent, TargetGroup


def test_a_duration_is_told_in_its_largest_fitting_unit() -> None:
    lengths = [timedelta(seconds=-3), timedelta(seconds=119), timedelta(minutes=119), timedelta(hours=47), timedelta(3)]
    assert [duration(length) for length in lengths] == ["0 s", "119 s", "119 min", "47 h", "3 days"]


def test_every_group_and_intent_has_words() -> None:
    assert all(group.label for group in TargetGroup)
    assert set(INTENT_WORDS) == set(Intent)
