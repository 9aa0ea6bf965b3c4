"""The one retry policy: how waits grow, and that no number of failures breaks it."""

from __future__ import annotations

import pytest

from core.retry import Backoff, Retry
from tests.core.turned_clock import TurnedClock


def test_waits_double_up_to_the_longest() -> None:
    backoff = Backoff(0.5, 3.0)
    assert [backoff.wait_s(failures) for failures in (1, 2, 3, 4, 5)] == [0.5, 1.0, 2.0, 3.0, 3.0]


@pytest.mark.parametrize("failures", [64, 65, 1025, 10**9])
def test_no_number_of_failures_overflows(failures: int) -> None:
    assert Backoff(0.5, 15.0).wait_s(failures) == 15.0


def test_jitter_spreads_a_wait_by_its_share_and_no_more() -> None:
    waits = {Backoff(1.0, 8.0, jitter=0.25).wait_s(4) for _ in range(200)}
    assert min(waits) >= 6.0 and max(waits) <= 10.0
    assert len(waits) > 1


async def test_a_success_begins_again_with_the_shortest_wait() -> None:
    clock = TurnedClock()
    retry = Retry(Backoff(1.0, 60.0), clock)
    await retry.wait()
    await retry.wait()
    retry.succeeded()
    await retry.wait()
    assert clock.slept == [1.0, 2.0, 1.0]


async def test_a_wait_that_the_other_side_advises_takes_the_place_of_the_own_and_still_counts() -> None:
    clock = TurnedClock()
    retry = Retry(Backoff(1.0, 60.0), clock)
    await retry.wait(7.0)
    await retry.wait()
    assert clock.slept == [7.0, 2.0]


def test_only_the_last_of_the_allowed_attempts_is_the_last() -> None:
    retry, endless = Retry(Backoff(1.0, 60.0), attempts=3), Retry(Backoff(1.0, 60.0))
    is_last = []
    for _ in range(4):
        is_last.append((retry.attempt, retry.is_last_attempt, endless.is_last_attempt))
        retry.next_wait_s()
    assert is_last == [(1, False, False), (2, False, False), (3, True, False), (4, True, False)]


def test_only_a_run_longer_than_the_longest_wait_counts_as_a_success() -> None:
    retry = Retry(Backoff(1.0, 60.0))
    assert [retry.next_wait_s(), retry.next_wait_s()] == [1.0, 2.0]
    retry.note_run(60.0)
    assert retry.next_wait_s() == 4.0
    retry.note_run(60.1)
    assert retry.next_wait_s() == 1.0
