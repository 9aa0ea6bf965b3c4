from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from numpy.typing import NDArray

from core.domain import Evidence, TargetGroup
from kb import manifest
from kb.query import Vectors
from kb.summaries import SummaryStore
from models.chat import ChatClient
from tests.factories import make_evidence, make_source

SOURCES = Path(__file__).parents[2] / "../shared/kb"


class WordEmbedder:
    """An embedder that sums a random direction per word, so that texts with common words are near each other."""

    dimension = 64

    def __init__(self, name: str = "words-64") -> None:
        self.name = name
        self.embedded: list[str] = []
        self.asked: list[str] = []

    async def queries(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.stack([self._vector(text) for text in texts])

    async def passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        return np.stack([self._vector(text) for text in texts])

    async def close(self) -> None:
        self.embedded.clear()

    def _vector(self, text: str) -> Vectors:
        words = re.findall(r"\w+", text.lower())
        total = np.sum([_direction(word, self.dimension) for word in ("", *words)], axis=0)
        unit: Vectors = (total / np.linalg.norm(total)).astype(np.float32)
        return unit


@cache
def _direction(word: str, dimension: int) -> NDArray[np.float64]:
    """Return a word's random direction, always the same; the empty word's is part of every text."""
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") if word else 1
    return np.random.default_rng(seed).normal(size=dimension)


def _evidence(
    name: str,
    text: str,
    answers: Sequence[str] = ("they ruin everything",),
    groups: Sequence[TargetGroup] = (TargetGroup.OTHER,),
    symbol: str = "A/RES/1/1",
) -> Evidence:
    source = make_source(title="On moons", symbol=symbol, year=1999, url="https://docs.un.org/en/A/RES/1/1")
    return make_evidence(name, text, groups=groups, answers=answers, source=source)


@pytest.fixture(autouse=True)
def closed_stores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the summary stores that a test opens: from Python 3.13 on, leaving one open causes a warning."""
    opened: list[SummaryStore] = []
    begin = SummaryStore.__init__

    def noted(self: SummaryStore, folder: Path) -> None:
        begin(self, folder)
        opened.append(self)

    monkeypatch.setattr(SummaryStore, "__init__", noted)
    yield
    for store in opened:
        store.close()


@pytest.fixture
def evidence() -> Callable[..., Evidence]:
    return _evidence


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
async def chat() -> AsyncIterator[Callable[..., Awaitable[ChatClient]]]:
    """Yield a function that serves a chat model, whose answers are `reply(messages)`, and returns its client."""
    async with AsyncExitStack() as stack:

        async def start(reply: Callable[[list[dict[str, str]]], str], reason: str = "stop") -> ChatClient:
            async def complete(request: web.Request) -> web.Response:
                message = {"role": "assistant", "content": reply((await request.json())["messages"])}
                return web.json_response({"choices": [{"message": message, "finish_reason": reason}]})

            app = web.Application()
            app.router.add_post("/v1/chat/completions", complete)
            server = await stack.enter_async_context(TestServer(app))
            client = ChatClient(str(server.make_url("/v1")), "tiny", None, 5.0, 1)
            return await stack.enter_async_context(client)

        yield start


@pytest.fixture
def statements() -> list[Evidence]:
    return [
        _evidence(
            "moon", "Zorblaxians pay taxes on every moon.", ["zorblaxians never pay"], [TargetGroup.MIGRANTS], "S1"
        ),
        _evidence(
            "school",
            "Every child may go to school, says the treaty.",
            ["girls need no lessons"],
            [TargetGroup.WOMEN],
            "S2",
        ),
        _evidence(
            "vote",
            "Women vote and stand for election under the treaty.",
            ["women should not vote"],
            [TargetGroup.WOMEN, TargetGroup.OTHER],
            "S2",
        ),
        _evidence(
            "work", "Work of equal value earns equal pay.", ["women earn less for a reason"], [TargetGroup.WOMEN], "S3"
        ),
        _evidence(
            "faith",
            "Everyone is free to practise a religion in public.",
            ["hide your faith"],
            [TargetGroup.MUSLIMS, TargetGroup.JEWS],
            "S4",
        ),
    ]


@pytest.fixture(scope="session")
def documents() -> Any:
    """Return the look-up module beside this file, imported by path, as test folders are not packages."""
    spec = importlib.util.spec_from_file_location("kb_test_documents", Path(__file__).with_name("documents.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def read_source(documents: Any) -> Callable[[str], Any]:
    if not SOURCES.is_dir():
        pytest.skip("the source texts (../shared/kb) are not beside this checkout")

    @cache
    def read(document: str) -> Any:
        path = SOURCES / document
        return documents.read(path) if path.is_file() else None

    return read


def written_by_an_older_version(version: Path) -> None:
    """Give a version of a knowledge base the format before this one."""
    manifest.write(version, manifest.read(version).model_copy(update={"format": manifest.FORMAT - 1}))
