"""What every embedder offers, wherever its model runs; `models.embedders` opens the one that the settings name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """A model that turns texts into vectors of length 1, one row of a returned array for each text.

    Returned arrays have shape (number of texts, dimension). Any text is taken, also an empty one and a very long one.
    Two embedders' vectors can be compared only when their `name` is the same. Safe to call from many tasks of one event
    loop at once.
    """

    @property
    def name(self) -> str:
        """Return what the vectors depend on: the kind and the model."""

    @property
    def dimension(self) -> int:
        """Return the length of a vector; 0 while an endpoint has not answered yet."""

    async def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that search.

        When an endpoint fails, raises EmbedderUnavailable (it is away), ModelUnavailable or ModelRefused (on these).
        """

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that are searched; raises as `queries` does."""

    async def close(self) -> None:
        """Let go of threads and connections; safe to call twice."""
