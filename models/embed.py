"""The protocol of all embedders, wherever their models run; `models.embedders` opens the one in the settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """A model that turns texts into vectors of length 1, one row of the returned array per text.

    Returned arrays have shape (number of texts, dimension). Any text is accepted, even an empty or a very long one.
    Vectors of two embedders are comparable only if their `name` is the same. Safe to call from many tasks of one event
    loop at once.
    """

    @property
    def name(self) -> str:
        """Return a name for all that the vectors depend on: the kind and the model."""

    @property
    def dimension(self) -> int:
        """Return the length of a vector; 0 while it is unknown, before an endpoint's first answer."""

    async def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that search.

        If an endpoint fails, raises EmbedderUnavailable (it is away), or ModelUnavailable or ModelRefused (it fails on
        these texts).
        """

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that are searched; raises as `queries` does."""

    async def close(self) -> None:
        """Release threads and connections; safe to call twice."""
