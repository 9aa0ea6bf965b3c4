"""Compute and tune MPNet, with low-rank adapters in all layers, with torch (the `train` extra)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from models.mpnet import END, EPSILON, FIRST_POSITION, NORMS, PAIR, PARTS, SHAPE, START, UNKNOWN, distances, read_file
from models.wordpiece import WordPiece
from training import low_rank
from training.low_rank import Schedule, Tensors

RANK = 16
POOLED = 2 * SHAPE.width
"""Size of a text's pooled states: their mean and their maximum."""
PADDING = 1
COARSE = torch.bfloat16
"""The type in which matrices are multiplied: five times as fast as float32 on processors that support it."""
LOOKED_AT = 300
"""About how many texts decide how large inputs usually are."""
SCHEDULE = Schedule(rate=6e-4, heads_rate=1.2e-3, warm=60, said_every=20)
MATRICES = {**dict(zip("qkv", PARTS["qkv"], strict=True)), **{name: PARTS[name][0] for name in ("ao", "fi", "fo")}}
"""The matrices of a layer by their names among the adapters, with their names in the file."""


def opened(model_file: Path) -> tuple[Tensors, WordPiece]:
    """Return the tensors that the published file holds, the matrices in COARSE, and its tokenizer."""
    arrays, numbers = read_file(model_file)
    matrices = {f"encoder.layer.{layer}.{part}" for layer in range(SHAPE.layers) for part in MATRICES.values()}
    held: Tensors = {}
    for name, array in arrays.items():
        tensor = torch.from_numpy(np.array(array))
        held[name] = tensor.to(COARSE) if name.rpartition(".")[0] in matrices else tensor
    return held, WordPiece(numbers, UNKNOWN)


def greatest_inputs(texts: Sequence[Sequence[int]], weights: Tensors, tuned: Tensors) -> Tensors:
    """Return the greatest size of each input of the graph's matrices on texts' tokens without start and end.

    The names are those that `models.mpnet.Mpnet` takes, such as `l0.qkv.most`.
    """
    most: Tensors = {}
    with torch.no_grad():
        for tokens in texts[:: max(1, len(texts) // LOOKED_AT)]:
            pooled([tokens], weights, tuned, most)
    return {f"{name}.most": greatest for name, greatest in most.items()}


def tuned_or_kept(
    told: object, model_file: Path, cache: Path, tune: Callable[[], tuple[Tensors, Tensors]]
) -> tuple[Tensors, Tensors]:
    """Return what `tune` does, adapters and heads, from `cache` if it was kept for what is `told` and this file."""
    digest = hashlib.sha256(repr(told).encode("utf-8", "replace"))
    digest.update(model_file.read_bytes())
    if cache.exists() and (before := torch.load(cache))["digest"] == digest.hexdigest():
        return before["adapters"], before["heads"]
    adapters, heads = tune()
    torch.save({"digest": digest.hexdigest(), "adapters": adapters, "heads": heads}, cache)
    return adapters, heads


def adapters(weights: Tensors, chance: Any) -> Tensors:
    """Return new adapters for all layers; `chance` is a torch generator."""
    sizes = {
        f"l{layer}.{name}": tuple(weights[f"encoder.layer.{layer}.{part}.weight"].shape)
        for layer in range(SHAPE.layers)
        for name, part in MATRICES.items()
    }
    return low_rank.new_adapters(sizes, RANK, chance)


def pooled(texts: Sequence[Sequence[int]], weights: Tensors, tuned: Tensors, most: Tensors | None = None) -> Any:
    """Return pooled states, shape (texts, POOLED), of texts' tokens without start and end.

    In `most` the greatest size of each input of a matrix is kept; padding counts too.
    """
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
    apart = torch.from_numpy(distances(PAIR)[:longest, :longest])
    nearness = weights["encoder.relative_attention_bias.weight"][apart].permute(2, 0, 1)[None]
    nearness = nearness + torch.zeros(within.shape).masked_fill(~within, -1e4)[:, None, None]
    for layer in range(SHAPE.layers):
        states = _layer(states, nearness, layer, weights, tuned, most)
    return low_rank.pool(states, within)


def _layer(states: Any, nearness: Any, layer: int, weights: Tensors, tuned: Tensors, most: Tensors | None) -> Any:
    prefix = f"encoder.layer.{layer}"

    def linear(name: str, inputs: Any) -> Any:
        key, coarse = f"{prefix}.{MATRICES[name]}", inputs.to(COARSE)
        if most is not None:
            joint, largest = f"l{layer}.{'qkv' if name in 'qkv' else name}", inputs.abs().float().amax((0, 1))
            most[joint] = torch.maximum(most[joint], largest) if joint in most else largest
        own = functional.linear(coarse, weights[f"{key}.weight"], weights[f"{key}.bias"])
        low = functional.linear(coarse, tuned[f"l{layer}.{name}.down"].to(COARSE))
        return own + functional.linear(low, tuned[f"l{layer}.{name}.up"].to(COARSE))

    texts, tokens, width = states.shape
    by_head = (texts, tokens, SHAPE.heads, width // SHAPE.heads)
    query, key, value = (linear(name, states).view(by_head).transpose(1, 2) for name in "qkv")
    shares = ((query @ key.transpose(-1, -2)).float() * by_head[-1] ** -0.5 + nearness).softmax(-1)
    mixed = (shares.to(COARSE) @ value).transpose(1, 2).reshape(texts, tokens, width)
    states = _normalised(linear("ao", mixed).float() + states, f"{prefix}.{NORMS['aln']}", weights)
    inner = functional.gelu(linear("fi", states))
    return _normalised(linear("fo", inner).float() + states, f"{prefix}.{NORMS['oln']}", weights)


def _normalised(inputs: Any, name: str, weights: Tensors) -> Any:
    return functional.layer_norm(inputs, (SHAPE.width,), weights[f"{name}.weight"], weights[f"{name}.bias"], EPSILON)
