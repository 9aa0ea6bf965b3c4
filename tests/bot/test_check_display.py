from __future__ import annotations

import pytest

from bot.check_display import checks_as_json, is_close
from core.domain import Check


@pytest.mark.parametrize(("value", "threshold", "passed", "close"), [
    (0.47, 0.5, True, True), (0.30, 0.5, True, False), (0.51, 0.5, False, False), (0.52, 0.5, True, True),
    (460, 500, True, True), (300, 500, True, False), (2, 2, True, False), (0, 0, True, False),
])  # fmt: skip
def test_a_check_is_close_when_it_passes_within_a_tenth_of_a_graded_limit(
    value: float, threshold: float, passed: bool, close: bool
) -> None:
    check = Check(name="echo", passed=passed, value=value, threshold=threshold)
    assert is_close(check) is close
    assert checks_as_json((check,))[0]["close"] is close
