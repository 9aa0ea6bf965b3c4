"""The real embedder, shared by the tests of one run."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from models.embed import Embedder
from models.embedders import default_embedder


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    opened = default_embedder()
    yield opened
    await opened.close()
