"""What the desk's page knows about its process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.settings import CareSettings, ChatWorkspace


@dataclass(frozen=True)
class Surroundings:
    """The chats beside the page, by surface and server, the limits on workload, and what runs in this process.

    `parts` maps each part of a demo to a description; it is empty otherwise. `takes_flags` tells whether posts can be
    flagged at the page's own address.
    """

    care: CareSettings = field(default_factory=CareSettings)
    chats: Mapping[str, Mapping[str, ChatWorkspace]] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    takes_flags: bool = False
