"""Ports for the tests' servers that no other process is likely to take in the meantime."""

from __future__ import annotations

import random
import socket

HOST = "127.0.0.1"
BELOW_THE_SYSTEMS_OWN = range(15_000, 32_000)
"""Ports below the range from which systems assign ephemeral ports."""


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
