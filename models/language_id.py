"""Load the language identification model, py3langid (Lui & Baldwin 2012, retrained)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier


@cache
def language_identifier(*labels: str) -> LanguageIdentifier:
    """Return the model for all of its 140 languages and dialects, or for `labels` alone; loaded once per choice.

    Its probabilities sum to 1. Safe in any thread once it is loaded.
    """
    # Imported late: with its model it takes most of a second, for which programs that never use it need not wait.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    if labels:
        identifier.set_languages(list(labels))
    return identifier
