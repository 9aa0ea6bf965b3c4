"""The base class and number types of all sections of the settings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
MOST_DAYS = 36_500
"""The longest period that a setting may have: without a limit, dates would leave the calendar."""
MOST_SECONDS = MOST_DAYS * 86_400
Days = Annotated[int, Field(ge=1, le=MOST_DAYS)]
Seconds = Annotated[float, Field(gt=0, le=MOST_SECONDS)]
LowerCase = Annotated[str, StringConstraints(to_lower=True)]
InterfaceLanguage = Literal["en", "es", "it", "eu"]
"""The languages of page and chats; `bot.translation` has a catalogue for each."""


class Section(BaseModel):
    """A group of settings; an unknown name is an error instead of being ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)
