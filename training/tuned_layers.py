"""Compute and tune the embedder's last layers with torch (the `train` extra)."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
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

Tensors = dict[str, Any]
LossOf = Callable[[Any, Sequence[int]], Any]
"""Returns the summed loss of pooled states, shape (rows, POOLED), of the texts with these numbers."""

MATRICES = {"q": (1, 1), "k": (1, 1), "v": (1, 1), "ao": (1, 1), "fi": (1, 4), "fo": (4, 1)}
"""The matrices of a layer: the sizes of input and output, in widths of a token's state."""
COARSE = torch.bfloat16
"""The type in which matrices are multiplied: four times as fast as float32 on processors that support it."""
EPSILON = 1e-12
POOLED = 2 * SHAPE.width
"""Size of a text's pooled states: their mean and their maximum."""
MEAN = 3.0
"""The factor by which the mean is scaled, so that it is about as large as the maximum."""

PASSES = 2
TOKENS = 2048
"""Most tokens in a step, including padding."""
ALIKE = 4096
"""Texts that are sorted by length at a time, so that a step has texts of similar length."""
RATE, HEADS_RATE = 1e-3, 2e-3
WARM = 100
"""Steps over which the learning rate rises to the schedule, a falling cosine."""
DECAY, STRONGEST = 0.01, 1.0
"""Weight decay, and the norm to which gradients are clipped."""
UNSEEN = 0.1
"""Share of the pooled numbers dropped for each text."""
SMOOTHED = 0.02
"""Distance of the training targets from 0 and 1: labels are the opinions of a few people."""
SCALE = 32.0
"""The divisor of the sum of a step's losses."""
SAID_EVERY = 100


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
    """Return new adapters, which change nothing yet (LoRA, section 4.1); `chance` is a torch generator."""
    made: Tensors = {}
    for layer in range(SHARED, SHAPE.layers):
        for name, (reads, gives) in MATRICES.items():
            width = reads * SHAPE.width
            made[f"l{layer}.{name}.down"] = torch.randn(RANK, width, generator=chance) / width**0.5
            made[f"l{layer}.{name}.up"] = torch.zeros(gives * SHAPE.width, RANK)
    return made


def pooled(states: Any, lengths: Any, held: Tensors, tuned: Tensors) -> Any:
    """Return pooled states, shape (texts, POOLED), from texts' states after layer SHARED, (texts, tokens, width)."""
    within = torch.arange(states.shape[1])[None] < lengths[:, None]
    away = torch.zeros(within.shape).masked_fill(~within, -1e4)[:, None, None]
    for layer in range(SHARED, SHAPE.layers):
        states = _layer(states, away, f"l{layer}", held, tuned)
    mean = (states * within[..., None]).sum(1) / lengths[:, None]
    highest = states.masked_fill(~within[..., None], -1e4).amax(1)
    return torch.cat([MEAN * mean, highest], 1)


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
    torch.manual_seed(seed)
    drawn = np.random.default_rng(seed)
    lengths = np.array([len(of_text) for of_text in states])
    steps = [portion for _ in range(PASSES) for portion in _portions(lengths, drawn)]
    learned = [*adapters.values(), *heads.values()]
    for tensor in learned:
        tensor.requires_grad_(True)
    groups = [{"params": list(adapters.values())}, {"params": list(heads.values())}]
    optimiser = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY)
    said = 0.0
    for step, rows in enumerate(steps, 1):
        share = min(1.0, step / WARM) * 0.5 * (1 + math.cos(math.pi * step / len(steps)))
        for group, rate in zip(optimiser.param_groups, (RATE, HEADS_RATE), strict=True):
            group["lr"] = rate * share
        summed = pooled(*padded([states[row] for row in rows]), held, adapters)
        loss = loss_of(functional.dropout(summed, UNSEEN), rows) / SCALE
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, STRONGEST)
        optimiser.step()
        said += float(loss.detach()) * SCALE / len(rows)
        if step % SAID_EVERY == 0:
            click.echo(f"Step {step} of {len(steps)}: loss {said / SAID_EVERY:.3f} a text.", err=True)
            said = 0.0
    for tensor in learned:
        tensor.requires_grad_(False)


def _portions(lengths: Vectors, drawn: np.random.Generator) -> Iterator[list[int]]:
    """Yield the rows in portions of at most TOKENS tokens, texts of similar length together, in random order."""
    order = drawn.permutation(len(lengths))
    portions: list[list[int]] = []
    for start in range(0, len(order), ALIKE):
        portion: list[int] = []
        for row in sorted(order[start : start + ALIKE].tolist(), key=lambda row: int(lengths[row])):
            if portion and (len(portion) + 1) * lengths[row] > TOKENS:
                portions.append(portion)
                portion = []
            portion.append(row)
        portions.append(portion)
    yield from (portions[place] for place in drawn.permutation(len(portions)))


def yes_or_no(logits: Any, answers: Vectors, counts: Vectors) -> Any:
    """Return the sum of the weighted losses of yes-no questions; all have the same shape."""
    smoothed = torch.from_numpy(answers * (1 - 2 * SMOOTHED) + SMOOTHED)
    losses = functional.binary_cross_entropy_with_logits(logits, smoothed, reduction="none")
    return (losses * torch.from_numpy(counts)).sum()


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
