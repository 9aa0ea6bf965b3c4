"""The base of all records: clean text, moments in UTC, and the enumerations of groups, strategies and intents."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict

MAX_TEXT = 20_000
"""Longest accepted post text, in characters; the longest public post formats stay well below it."""

# U+0085 stays: it is a line break, which other systems write.
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def now() -> datetime:
    """Return the current time in UTC, timezone-aware."""
    return datetime.now(UTC)


def clean(text: str) -> str:
    """Remove control characters and replace lone surrogates, which databases, logs and terminals can't handle."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", _UNSTORABLE.sub("", text))


def _clean_if_text(value: object) -> object:
    return clean(value) if isinstance(value, str) else value


def _as_utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies outside the years 1 to 9999 in UTC") from None


Text = Annotated[str, BeforeValidator(_clean_if_text)]
Moment = Annotated[AwareDatetime, AfterValidator(_as_utc)]


class Record(BaseModel):
    """An immutable value that travels between rooms and over the wire."""

    # JSON has neither infinity nor NaN: they would be written as null, which can't be read back as a number.
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class TargetGroup(StrEnum):
    """The people a post attacks."""

    WOMEN = "women"
    PEOPLE_OF_COLOUR = "people_of_colour"
    DISABLED = "disabled"
    MIGRANTS = "migrants"
    MUSLIMS = "muslims"
    JEWS = "jews"
    LGBT = "lgbt"
    OTHER = "other"

    @property
    def label(self) -> str:
        """Return the group's name as used within a sentence, on every surface."""
        return _GROUP_LABELS[self]


_GROUP_LABELS = {
    TargetGroup.WOMEN: "women",
    TargetGroup.PEOPLE_OF_COLOUR: "people of colour",
    TargetGroup.DISABLED: "people with disabilities",
    TargetGroup.MIGRANTS: "migrants",
    TargetGroup.MUSLIMS: "Muslims",
    TargetGroup.JEWS: "Jews",
    TargetGroup.LGBT: "LGBT people",
    TargetGroup.OTHER: "another group",
}


class StrategyName(StrEnum):
    """The name of a drafting strategy, as used in settings, plans and moderators' requests."""

    COMPOSE = "compose"
    LOCKED = "locked"
    FREE = "free"
    PLAIN = "plain"
    CLAIM_GUIDED = "claim-guided"
    INTENT_FRAMES = "intent-frames"
    TOURNAMENT = "tournament"


class Intent(StrEnum):
    """What a reply aims to do: the four intents of CoARL (Hengle et al. 2024)."""

    INFORMATIVE = "informative"
    QUESTIONING = "questioning"
    DENOUNCING = "denouncing"
    POSITIVE = "positive"
