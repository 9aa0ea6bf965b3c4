"""Compute MPNet with torch, with low-rank adapters in all layers (the `train` extra)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from models.mpnet import END, EPSILON, FIRST_POSITION, NORMS, PARTS, SHAPE, START, WINDOW, distances
from models.mpnet import Tensors as Arrays
from training import low_rank
from training.low_rank import Tensors

RANK = 16
POOLED = 2 * SHAPE.width
"""Size of a text's pooled states: their mean and their maximum."""
PADDING = 1
MATRICES = {**dict(zip("qkv", PARTS["qkv"], strict=True)), **{name: PARTS[name][0] for name in ("ao", "fi", "fo")}}
"""The matrices of a layer by their names among the adapters, with their names in the file."""


def held(arrays: Arrays) -> Tensors:
    """Return the model's tensors."""
    return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}


def adapters(weights: Tensors, chance: Any) -> Tensors:
    """Return new adapters for all layers; `chance` is a torch generator."""
    sizes = {
        f"l{layer}.{name}": tuple(weights[f"encoder.layer.{layer}.{part}.weight"].shape)
        for layer in range(SHAPE.layers)
        for name, part in MATRICES.items()
    }
    return low_rank.new_adapters(sizes, RANK, chance)


def pooled(texts: Sequence[Sequence[int]], weights: Tensors, tuned: Tensors) -> Any:
    """Return pooled states, shape (texts, POOLED), of texts' tokens without start and end."""
    rows = [[START, *tokens, END] for tokens in texts]
    lengths = torch.tensor([len(row) for row in rows])
    longest = int(lengths.max())
    numbers = torch.tensor([row + [PADDING] * (longest - len(row)) for row in rows])
    places = torch.arange(longest)[None]
    within = places < lengths[:, None]
    positions = torch.where(within, places + FIRST_POSITION, PADDING)
    embedded = (
        weights["embeddings.word_embeddings.weight"][numbers]
        + weights["embeddings.position_embeddings.weight"][positions]
    )
    states = _normalised(embedded, "embeddings.LayerNorm", weights)
    apart = torch.from_numpy(distances(WINDOW)[:longest, :longest])
    nearness = weights["encoder.relative_attention_bias.weight"][apart].permute(2, 0, 1)[None]
    nearness = nearness + torch.zeros(within.shape).masked_fill(~within, -1e4)[:, None, None]
    for layer in range(SHAPE.layers):
        states = _layer(states, nearness, layer, weights, tuned)
    return low_rank.pool(states, within)


def _layer(states: Any, nearness: Any, layer: int, weights: Tensors, tuned: Tensors) -> Any:
    prefix = f"encoder.layer.{layer}"

    def linear(name: str, inputs: Any) -> Any:
        key = f"{prefix}.{MATRICES[name]}"
        own = functional.linear(inputs, weights[f"{key}.weight"], weights[f"{key}.bias"])
        low = functional.linear(inputs, tuned[f"l{layer}.{name}.down"])
        return own + functional.linear(low, tuned[f"l{layer}.{name}.up"])

    texts, tokens, width = states.shape
    by_head = (texts, tokens, SHAPE.heads, width // SHAPE.heads)
    query, key, value = (linear(name, states).view(by_head).transpose(1, 2) for name in "qkv")
    shares = (query @ key.transpose(-1, -2) * by_head[-1] ** -0.5 + nearness).softmax(-1)
    mixed = (shares @ value).transpose(1, 2).reshape(texts, tokens, width)
    states = _normalised(linear("ao", mixed) + states, f"{prefix}.{NORMS['aln']}", weights)
    inner = functional.gelu(linear("fi", states))
    return _normalised(linear("fo", inner) + states, f"{prefix}.{NORMS['oln']}", weights)


def _normalised(inputs: Any, name: str, weights: Tensors) -> Any:
    return functional.layer_norm(inputs, (SHAPE.width,), weights[f"{name}.weight"], weights[f"{name}.bias"], EPSILON)
