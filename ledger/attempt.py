"""What a moderator tries to do with a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from core.domain import clean


@dataclass(frozen=True)
class Attempt:
    """What a moderator tries: on which case, on which version they saw; `force` overrides another's claim.

    `verb` says what they do with it, for "you can't … it".
    """

    key: str
    version: int
    who: str
    verb: str
    force: bool = False

    @classmethod
    def of(cls, key: str, version: int, who: str, verb: str, force: bool = False) -> Self:
        """Return the attempt with texts that can be stored."""
        return cls(clean(key), version, clean(who), verb, force)
