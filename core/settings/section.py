"""The base class and number types of all sections of the settings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
LowerCase = Annotated[str, StringConstraints(to_lower=True)]
InterfaceLanguage = Literal["en", "es", "it", "eu"]
"""The languages of page and chats; `bot.translation` has a catalogue for each."""


class Section(BaseModel):
    """A group of settings; an unknown name is an error instead of being ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)
