"""Score how toxic a text is with Detoxify, a transformer of the `accurate` extra (Hanu and Unitary, 2020)."""

from __future__ import annotations

import pickle
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.domain import clean
from core.errors import BadSettings, ModelUnavailable

LANGUAGES = {"multilingual": frozenset({"en", "fr", "es", "it", "pt", "tr", "ru"})}
"""Languages that a model was trained on; all other models were trained on English alone."""


class DetoxifyModel:
    """Detoxify as a Toxicity; the model is loaded at once.

    With `checkpoint` and `config` (a folder with the model's configuration and tokenizer) it loads without the network,
    provided that the checkpoint names that folder, too. A checkpoint is a pickle, which can run code: take it only from
    its makers. Raises BadSettings if the extra is not installed, ModelUnavailable if the model can't be loaded.
    """

    def __init__(self, model: str = "unbiased", checkpoint: Path | None = None, config: Path | None = None) -> None:
        if find_spec("detoxify") is None:
            raise BadSettings(
                "guard.toxicity is `detoxify`, which is not installed. Install it with `pip install "
                "'rejoinder[accurate]'`, or set guard.toxicity to `head`."
            )
        self.languages = LANGUAGES.get(model, frozenset({"en"}))
        # A fast tokenizer that threads share raises "Already borrowed".
        self._lock = threading.Lock()
        self._model = _load(model, checkpoint, config)

    def score(self, text: str) -> float:
        """Return the probability, 0 to 1, that people would call the text toxic; 0 for a text without a word."""
        plain = clean(text)
        if not plain.strip():
            return 0.0
        with self._lock:
            return float(self._model.predict(plain)["toxicity"])


def _load(model: str, checkpoint: Path | None, config: Path | None) -> Any:
    from detoxify import Detoxify

    try:
        return Detoxify(
            model,
            checkpoint=None if checkpoint is None else str(checkpoint),
            huggingface_config_path=None if config is None else str(config),
        )
    except (OSError, ValueError, RuntimeError, KeyError, EOFError, pickle.UnpicklingError) as error:
        raise ModelUnavailable(
            f"Detoxify's model {checkpoint or model} can't be loaded: {error}. Set guard.detoxify_checkpoint and "
            "guard.detoxify_config to files that are here, or see that the network can be reached."
        ) from error
