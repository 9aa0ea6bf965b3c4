"""Throttling of callers who guess tokens, without locking out legitimate callers behind the same address."""

from __future__ import annotations

import time
from collections.abc import Callable
from ipaddress import ip_address, ip_network

REMEMBERED_S = 12 * 3600
"""Seconds for which a successful login of an account from an address is remembered."""
PATIENCE = 10
"""Factor by which more failures are tolerated for an account that recently logged in from the address."""


class Throttle:
    """The failed tries of each address, forgotten after `window_s` seconds.

    After `max_tries` failures, a stranger must wait, even with the right token. An account that recently logged in from
    the address is allowed ten times as many: otherwise one guesser, or one program with an outdated token, would lock
    out everybody behind the same proxy. All addresses of one IPv6 /64 network count as one.
    """

    def __init__(
        self, max_tries: int = 10, window_s: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_tries = max_tries
        self._window_s = window_s
        self._clock = clock
        self._swept = clock()
        self._failures: dict[str, list[float]] = {}
        self._accounts: dict[tuple[str, str], float] = {}

    def wait_s(self, address: str, account: str | None = None) -> float:
        """Return the seconds until `account` (None for a stranger) may try again from an address; 0 means now."""
        place = _network(address)
        let_in = self._accounts.get((place, account)) if account is not None else None
        is_known = let_in is not None and let_in > self._clock() - REMEMBERED_S
        most_tries = self._max_tries * (PATIENCE if is_known else 1)
        recent = self._recent(place)
        return 0.0 if len(recent) < most_tries else recent[-most_tries] + self._window_s - self._clock()

    def failed(self, address: str) -> None:
        """Count a failed try."""
        self._sweep()
        place = _network(address)
        most_kept = self._max_tries * PATIENCE
        self._failures[place] = [*self._recent(place), self._clock()][-most_kept:]

    def succeeded(self, address: str, account: str) -> None:
        """Remember that an account logged in from an address."""
        self._accounts[_network(address), account] = self._clock()

    def _recent(self, place: str) -> list[float]:
        since = self._clock() - self._window_s
        return [moment for moment in self._failures.get(place, ()) if moment > since]

    def _sweep(self) -> None:
        moment = self._clock()
        if moment < self._swept + self._window_s:
            return
        self._swept = moment
        self._failures = {place: recent for place in self._failures if (recent := self._recent(place))}
        self._accounts = {pair: at for pair, at in self._accounts.items() if at > moment - REMEMBERED_S}


def _network(address: str) -> str:
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    # IPv4-mapped addresses are unwrapped first: they would all fall into one /64 network.
    return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
