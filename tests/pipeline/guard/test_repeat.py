from __future__ import annotations

from collections.abc import Callable

import pytest

from core.domain import Check

Judge = Callable[..., Check]


def test_a_first_reply_repeats_nothing(judge: Judge, good: str) -> None:
    assert judge("repeat", good).value == 0


@pytest.mark.parametrize(
    "change",
    [
        str,
        str.upper,
        lambda text: text.replace("Women", "All women"),
        lambda text: " ".join(reversed(text.split())),
    ],
    ids=["same", "case", "one word", "order"],
)
def test_nearly_the_same_reply_fails(judge: Judge, good: str, change: Callable[[str], str]) -> None:
    assert not judge("repeat", change(good), avoid=("something else entirely", good)).passed


def test_replies_in_the_thread_count_too(judge: Judge, good: str) -> None:
    assert not judge("repeat", good, thread=(good,)).passed


def test_another_reply_passes(judge: Judge, good: str) -> None:
    assert judge("repeat", "Everyone deserves respect. That is only fair.", avoid=(good,)).passed
