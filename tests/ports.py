"""Ports for the tests' servers that nobody else is given meanwhile."""

from __future__ import annotations

import random
import socket

HOST = "127.0.0.1"
BELOW_THE_SYSTEMS_OWN = range(15_000, 32_000)
"""A system that is asked for any port, or connects from one, takes it from above these."""


def unused_port() -> int:
    """Return a port that nobody listens on, and that no other test is likely to draw."""
    while True:
        port = random.choice(BELOW_THE_SYSTEMS_OWN)
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
