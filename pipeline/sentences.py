"""Split a text into sentences, by the abbreviations of its language pack."""

from __future__ import annotations

import core.sentences
from core.sentences import is_complete, is_question
from pipeline.languages import DEFAULT, pack

__all__ = ["is_complete", "is_question", "split"]


def split(text: str, language: str = DEFAULT) -> tuple[str, ...]:
    """Return the sentences of `text`, trimmed, in order; unknown languages are read like English."""
    return core.sentences.split(text, language, unfinished=pack(language).unfinished)
