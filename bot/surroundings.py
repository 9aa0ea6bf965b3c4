"""What the desk's page knows of the process around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.settings import CareSettings, ChatWorkspace


@dataclass(frozen=True)
class Surroundings:
    """The chats beside the page, by surface and server, how people are spared, and what runs in this process.

    `parts` say of each part of a demo what it does, by name; elsewhere there are none. `takes_flags` tells whether
    posts can be flagged at the page's own address.
    """

    care: CareSettings = field(default_factory=CareSettings)
    chats: Mapping[str, Mapping[str, ChatWorkspace]] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    takes_flags: bool = False
