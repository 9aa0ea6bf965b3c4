from __future__ import annotations

import pytest

from core.throttle import PATIENCE, REMEMBERED_S, Throttle


class Clock:
    moment = 0.0

    def __call__(self) -> float:
        return self.moment


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def throttle(clock: Clock) -> Throttle:
    return Throttle(max_tries=2, window_s=60, clock=clock)


def test_an_address_that_failed_too_often_waits_and_others_do_not(throttle: Throttle, clock: Clock) -> None:
    throttle.failed("192.0.2.1")
    assert throttle.wait_s("192.0.2.1") == 0
    clock.moment = 10
    throttle.failed("192.0.2.1")
    assert throttle.wait_s("192.0.2.1") == 50
    assert throttle.wait_s("192.0.2.2") == 0
    clock.moment = 60
    assert throttle.wait_s("192.0.2.1") == 0


def test_an_account_known_at_an_address_is_not_shut_out_by_a_guesser_there(throttle: Throttle) -> None:
    throttle.succeeded("192.0.2.1", "ana")
    for _ in range(5):
        throttle.failed("192.0.2.1")
    assert throttle.wait_s("192.0.2.1", "ana") == 0
    assert throttle.wait_s("192.0.2.1", "ben") > 0, "whose token may be the one just guessed"
    assert throttle.wait_s("192.0.2.1") > 0


def test_even_a_known_account_waits_at_last_and_is_forgotten(throttle: Throttle, clock: Clock) -> None:
    throttle.succeeded("192.0.2.1", "ana")
    for _ in range(2 * PATIENCE):
        throttle.failed("192.0.2.1")
    assert throttle.wait_s("192.0.2.1", "ana") > 0
    clock.moment = REMEMBERED_S + 1
    for _ in range(2):
        throttle.failed("192.0.2.1")
    assert throttle.wait_s("192.0.2.1", "ana") > 0


def test_one_ipv6_network_counts_as_one_address(throttle: Throttle) -> None:
    for last in (1, 2):
        throttle.failed(f"2001:db8::{last}")
    assert throttle.wait_s("2001:db8::ffff") > 0
    assert throttle.wait_s("2001:db8:1::1") == 0


def test_ipv4_addresses_written_as_ipv6_count_each_for_itself(throttle: Throttle) -> None:
    for _ in range(2):
        throttle.failed("::ffff:192.0.2.1")
    assert throttle.wait_s("::ffff:192.0.2.1") > 0
    assert throttle.wait_s("::ffff:192.0.2.2") == 0
