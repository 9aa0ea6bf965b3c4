"""The plan of a run: its load and its faults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

DatabaseKind = Literal["sqlite", "postgres"]


@dataclass(frozen=True)
class StressPlan:
    """The load and the faults of one run; times in seconds, `rate` in flags a second.

    `pause_s` is longer than `lease_s`, so that a paused publisher loses its lease.
    """

    flags: int = 200
    rate: float = 20.0
    workers: int = 2
    desks: int = 2
    moderators: int = 6
    decisions: int = 100
    collisions: int = 10
    kills: int = 0
    pauses: int = 0
    broker_outages: int = 0
    database_outages: int = 0
    disk_fills: int = 0
    chat_model: str = "none"
    model_kills: int = 0
    outage_s: float = 20.0
    pause_s: float = 8.0
    undo_s: float = 3.0
    lease_s: float = 6.0
    settle_s: float = 300.0
    skew_s: float = 0.0
    seed: int = 1
    database: DatabaseKind = "sqlite"
    own_cluster: bool = False
    folder: Path | None = None

    @property
    def flagging_s(self) -> float:
        """Return how many seconds it takes to send all flags at the planned rate."""
        return self.flags / self.rate
