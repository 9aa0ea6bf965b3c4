"""A moderator's attempt to do something with a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from core.domain import clean


@dataclass(frozen=True)
class Attempt:
    """One attempt: the case, the version that the moderator saw, and who they are; `force` overrides another's claim.

    `verb` completes the error message "you can't … it".
    """

    key: str
    version: int
    who: str
    verb: str
    force: bool = False

    @classmethod
    def of(cls, key: str, version: int, who: str, verb: str, force: bool = False) -> Self:
        """Return the attempt with its texts cleaned for storage."""
        return cls(clean(key), version, clean(who), verb, force)
