"""Train the reader of pairs, and write it with its card. Needs `train` and `dev`, and the fetched model."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from core.domain import clean
from models.e5 import PAIR_QUESTIONS
from models.embed import Vectors
from models.embedders import default_embedder
from models.mpnet import PAIR, pair_tokens
from models.wordpiece import WordPiece
from pipeline.guard.pair_reader import FILE, LANGUAGES, PairReader
from training import low_rank, mpnet_layers
from training.heads.sample import Part
from training.low_rank import Tensors
from training.mpnet_layers import POOLED, SCHEDULE
from training.pair_layers.data import OPPOSES, Pair, read_pairs
from training.pair_reader.model_card import write_card
from training.saving import save

SEED = 0
PASSES = 2
CARD = "pair_reader.md"


def train_and_write(data: Path, root: Path, model_file: Path, cache: Path) -> str:
    """Train, on real posts under `data` too; write the file and its card under `root`, and return the card.

    The adapters are kept in `cache`, and used again if it was made from the same pairs and weights.
    """
    pairs = [pair for pair in read_pairs(data) if pair.language in LANGUAGES]
    taught = [pair for pair in pairs if pair.part is Part.TRAIN]
    told = [(pair.first, pair.second, pair.question, pair.answer, pair.weight) for pair in taught]
    adapters, heads = mpnet_layers.tuned_or_kept(told, model_file, cache, lambda: _tuned(taught, model_file))
    path = root / "pipeline" / "data" / FILE
    weights = heads["w"].numpy().copy()
    low_rank.without_scaled_mean(weights)
    own = {"weights": weights, "bias": heads["b"].numpy()}
    save(path, {name: tensor.numpy() for name, tensor in adapters.items()} | own)
    posts = {pair.first for pair in taught if pair.question == OPPOSES}
    apart = [pair for pair in pairs if pair.part is not Part.TRAIN and pair.first not in posts]
    by_layers, by_reader = asyncio.run(_scores(apart, model_file, path))
    card = write_card(taught, apart, by_layers, by_reader, hashlib.sha256(path.read_bytes()).hexdigest())
    path.with_name(CARD).write_text(card, encoding="utf-8")
    return card


def _tuned(pairs: Sequence[Pair], model_file: Path) -> tuple[Tensors, Tensors]:
    """Return adapters with the greatest inputs, and weights `w` and biases `b` of a linear head for each question."""
    weights, tokenizer = mpnet_layers.opened(model_file)
    tokens = [_tokens(pair, tokenizer) for pair in pairs]
    chance = torch.Generator().manual_seed(SEED)
    adapters = mpnet_layers.adapters(weights, chance)
    heads: Tensors = {}
    heads["w"], heads["b"] = low_rank.new_head(len(PAIR_QUESTIONS), POOLED, chance)
    answers = np.array([pair.answer for pair in pairs], np.float32)
    counts = np.array([pair.weight for pair in pairs], np.float32)
    asked = torch.tensor([PAIR_QUESTIONS.index(pair.question) for pair in pairs])

    def pooled_of(rows: Sequence[int]) -> Any:
        return mpnet_layers.pooled([tokens[row] for row in rows], weights, adapters)

    def loss(pooled: Any, rows: Sequence[int]) -> Any:
        logits = functional.linear(pooled, heads["w"], heads["b"]).gather(1, asked[rows][:, None])[:, 0]
        return low_rank.yes_or_no(logits, answers[rows], counts[rows])

    lengths = [len(each) + 2 for each in tokens]
    low_rank.optimise(lengths, pooled_of, adapters, heads, loss, replace(SCHEDULE, passes=PASSES), SEED)
    return adapters | mpnet_layers.greatest_inputs(tokens, weights, adapters), heads


def _tokens(pair: Pair, tokenizer: WordPiece) -> list[int]:
    one, other = (tokenizer.tokens(clean(text), PAIR) for text in (pair.first, pair.second))
    return pair_tokens(one, other)[: PAIR - 2]


async def _scores(pairs: Sequence[Pair], model_file: Path, path: Path) -> tuple[Vectors, Vectors]:
    """Return the log odds by the shipped layers and by the reader, each of shape (pairs, questions)."""
    texts = [(pair.first, pair.second) for pair in pairs]
    embedder, reader = default_embedder(), PairReader.load(model_file, path)
    try:
        return await embedder.read_pairs(texts), await reader.read_pairs(texts)
    finally:
        await embedder.close()
        await reader.close()
