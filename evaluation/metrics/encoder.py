"""Token states of an encoder in transformers' format, for BERTScore; needs torch (the `accurate` extra)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.domain import clean
from core.errors import BadInput
from models.torch_model import TorchModel

BATCH = 16
LONGEST = 512
LAYERS = {
    "roberta-large": 17, "bert-base-multilingual-cased": 9, "xlm-roberta-base": 9, "xlm-roberta-large": 17,
    "microsoft/deberta-xlarge-mnli": 40,
}  # fmt: skip
"""The layers that bert-score 0.3.13 uses, which its authors chose by human judgements; other encoders use the last."""


class Encoder:
    """An encoder by folder or hub name, loaded on first use; `layer` is the layer whose states are returned."""

    def __init__(self, model: str, layer: int | None = None) -> None:
        """Take the encoder's name and layer; raises BadSettings if torch is not installed."""
        self._layer = LAYERS.get(model, -1) if layer is None else layer
        self.name = f"{model}, {'the last layer' if self._layer == -1 else f'layer {self._layer}'}"
        self._model = TorchModel[Any](model, "transformers", lambda: _load(model))

    async def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return the states of each text's tokens, shape (tokens, d), normalised to length 1, without special tokens.

        Raises ModelUnavailable if the encoder can't be loaded, and BadInput if it lacks the layer.
        """
        plain = [clean(text) for text in texts]
        return await self._model.use(lambda loaded: list(_states(loaded, plain, self._layer)))

    def close(self) -> None:
        """End the thread on which the encoder runs."""
        self._model.close()


def _load(model: str) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    return AutoTokenizer.from_pretrained(model), AutoModel.from_pretrained(model).eval()


def _states(loaded: tuple[Any, Any], texts: Sequence[str], layer: int) -> Iterator[NDArray[np.float32]]:
    import torch

    tokenizer, encoder = loaded
    for start in range(0, len(texts), BATCH):
        batch = tokenizer(
            texts[start : start + BATCH], return_tensors="pt", padding=True, truncation=True, max_length=LONGEST,
            return_special_tokens_mask=True,
        )  # fmt: skip
        special = batch.pop("special_tokens_mask").bool()
        with torch.no_grad():
            layers = encoder(**batch, output_hidden_states=True).hidden_states
        if not -len(layers) <= layer < len(layers):
            raise BadInput(f"The encoder has layers up to {len(layers) - 1}, and {layer} was asked for.")
        states = torch.nn.functional.normalize(layers[layer], dim=-1)
        for row, left_out in zip(states, special, strict=True):
            yield row[~left_out].numpy().astype(np.float32)
