"""Compute and tune the embedder's last layers with torch (the `train` extra)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from torch.nn import functional

from core.errors import BadSettings
from models.e5_file import E5File
from models.e5_onnx import OnnxE5Embedder
from models.e5_tuned import RANK, SHAPE, SHARED
from models.embed import Vectors
from models.embedders import default_embedder
from training import low_rank
from training.low_rank import LossOf, Schedule, Tensors

MATRICES = {"q": (1, 1), "k": (1, 1), "v": (1, 1), "ao": (1, 1), "fi": (1, 4), "fo": (4, 1)}
"""The matrices of a layer: the sizes of input and output, in widths of a token's state."""
COARSE = torch.bfloat16
"""The type in which matrices are multiplied: four times as fast as float32 on processors that support it."""
EPSILON = 1e-12
POOLED = 2 * SHAPE.width
"""Size of a text's pooled states: their mean and their maximum."""
SCHEDULE = Schedule(rate=1e-3, heads_rate=2e-3, warm=100, said_every=100)


def frozen(file: E5File) -> Tensors:
    """Return the original weights of the layers to tune, from the embedder's file."""
    held: Tensors = {}
    for layer in range(SHARED, SHAPE.layers):
        for name, (reads, gives) in MATRICES.items():
            key, rows = f"l{layer}.{name}", gives * SHAPE.width
            held[f"{key}.w"] = torch.from_numpy(file.blocks(f"{key}.w", rows, reads * SHAPE.width).floats()).to(COARSE)
            held[f"{key}.b"] = torch.from_numpy(np.array(file.floats(f"{key}.b", rows))).to(COARSE)
        for key in (f"l{layer}.{norm}.{part}" for norm in ("aln", "oln") for part in "wb"):
            held[key] = torch.from_numpy(np.array(file.floats(key, SHAPE.width)))
    return held


def adapters(chance: Any) -> Tensors:
    """Return new adapters for the layers to tune; `chance` is a torch generator."""
    sizes = {
        f"l{layer}.{name}": (gives * SHAPE.width, reads * SHAPE.width)
        for layer in range(SHARED, SHAPE.layers)
        for name, (reads, gives) in MATRICES.items()
    }
    return low_rank.new_adapters(sizes, RANK, chance)


def pooled(states: Any, lengths: Any, held: Tensors, tuned: Tensors) -> Any:
    """Return pooled states, shape (texts, POOLED), from texts' states after layer SHARED, (texts, tokens, width)."""
    within = torch.arange(states.shape[1])[None] < lengths[:, None]
    away = torch.zeros(within.shape).masked_fill(~within, -1e4)[:, None, None]
    for layer in range(SHARED, SHAPE.layers):
        states = _layer(states, away, f"l{layer}", held, tuned)
    return low_rank.pool(states, within)


def padded(states: Sequence[Vectors]) -> tuple[Any, Any]:
    """Return the texts' states, padded with zeros at the end, and their lengths in tokens."""
    lengths = [len(of_text) for of_text in states]
    together = np.zeros((len(states), max(lengths), SHAPE.width), np.float32)
    for row, of_text in zip(together, states, strict=True):
        row[: len(of_text)] = of_text
    return torch.from_numpy(together), torch.tensor(lengths)


def _layer(states: Any, away: Any, layer: str, held: Tensors, tuned: Tensors) -> Any:
    def linear(name: str, inputs: Any) -> Any:
        key, coarse = f"{layer}.{name}", inputs.to(COARSE)
        low = functional.linear(coarse, tuned[f"{key}.down"].to(COARSE))
        own = functional.linear(coarse, held[f"{key}.w"], held[f"{key}.b"])
        return own + functional.linear(low, tuned[f"{key}.up"].to(COARSE))

    def normalised(inputs: Any, name: str) -> Any:
        key = f"{layer}.{name}"
        return functional.layer_norm(inputs, (SHAPE.width,), held[f"{key}.w"], held[f"{key}.b"], EPSILON)

    texts, tokens, width = states.shape
    by_head = (texts, tokens, SHAPE.heads, width // SHAPE.heads)
    query, key, value = (linear(name, states).view(by_head).transpose(1, 2) for name in "qkv")
    # The backward pass of torch's own attention takes seven times as long here.
    shares = ((query @ key.transpose(-1, -2)).float() * by_head[-1] ** -0.5 + away).softmax(-1)
    mixed = (shares.to(COARSE) @ value).transpose(1, 2).reshape(texts, tokens, width)
    states = normalised(linear("ao", mixed).float() + states, "aln")
    inner = functional.gelu(linear("fi", states))
    return normalised(linear("fo", inner).float() + states, "oln")


def for_the_graph(adapters: Tensors) -> dict[str, Vectors]:
    """Return the adapters in the graph's format: queries, keys and values joined, queries scaled for attention."""
    arrays = {name: tensor.numpy() for name, tensor in adapters.items()}
    given: dict[str, Vectors] = {}
    for layer in (f"l{number}" for number in range(SHARED, SHAPE.layers)):
        for name in ("ao", "fi", "fo"):
            given |= {f"{layer}.{name}.{part}": arrays[f"{layer}.{name}.{part}"].T for part in ("down", "up")}
        ups = np.zeros((3 * RANK, 3 * SHAPE.width), np.float32)
        for place, name in enumerate("qkv"):
            rows, columns = (
                slice(place * RANK, (place + 1) * RANK),
                slice(place * SHAPE.width, (place + 1) * SHAPE.width),
            )
            ups[rows, columns] = arrays[f"{layer}.{name}.up"].T
        ups[:, : SHAPE.width] /= np.sqrt(SHAPE.width // SHAPE.heads)
        given[f"{layer}.qkv.down"] = np.concatenate([arrays[f"{layer}.{name}.down"] for name in "qkv"]).T
        given[f"{layer}.qkv.up"] = ups
    return given


def optimise(
    states: Sequence[Vectors], held: Tensors, adapters: Tensors, heads: Tensors, loss_of: LossOf, seed: int
) -> None:
    """Train adapters and heads in place, given texts' states after layer SHARED; reports the loss as it goes."""

    def pooled_of(rows: Sequence[int]) -> Any:
        return pooled(*padded([states[row] for row in rows]), held, adapters)

    lengths = [len(of_text) for of_text in states]
    low_rank.optimise(lengths, pooled_of, adapters, heads, loss_of, SCHEDULE, seed)


def kept_states(
    texts: Sequence[str], cache: Path, read: Callable[[OnnxE5Embedder], Awaitable[list[Vectors]]]
) -> list[Vectors]:
    """Return the states of texts after layer SHARED, from `cache` if it holds exactly these texts, else as `read`."""
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()
    if cache.exists():
        with np.load(cache) as kept:
            if str(kept["digest"]) == digest:
                return np.split(kept["states"], kept["ends"][:-1])
    click.echo(f"Reading {len(texts):,} texts.", err=True)
    states = asyncio.run(_read(read))
    ends = np.cumsum([len(of_text) for of_text in states])
    np.savez(cache, digest=np.array(digest), ends=ends, states=np.concatenate(states))
    return states


async def _read(read: Callable[[OnnxE5Embedder], Awaitable[list[Vectors]]]) -> list[Vectors]:
    embedder = default_embedder()
    try:
        if not isinstance(embedder, OnnxE5Embedder):
            raise BadSettings("The layers to tune are those that ONNX Runtime computes: install onnxruntime.")
        return [states.astype(np.float16) for states in await read(embedder)]
    finally:
        await embedder.close()
