"""What every Entailment must do: a tiny ONNX model that the test writes, and a chat server of the test's."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic import ValidationError

from core.errors import BadSettings, ModelRefused, ModelUnavailable, WeightsError
from core.settings import GuardSettings
from models.chat import ChatClient
from models.entailment import ChatEntailment, Entailment, OnnxEntailment, Pair

Serve = Callable[[dict[str, Callable[[web.Request], Awaitable[web.Response]]]], Awaitable[str]]

TOKENS = ["[PAD]", "[UNK]", "[SEP]", "yes", "no", "moons", "are", "free", "?"]
SAME = Pair("moons are free", "yes moons are free")
OTHER = Pair("moons are free", "no moons are free")


def write_model(folder: Path, *, length: int | None = None) -> Path:
    """Write a model that says entailment (output 2) where `yes` is read, contradiction where `no` is."""
    onnx = pytest.importorskip("onnx")
    tokenizers = pytest.importorskip("tokenizers")
    numpy = pytest.importorskip("numpy")
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({token: number for number, token in enumerate(TOKENS)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A", pair="$A [SEP] $B:1", special_tokens=[("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    table = numpy.zeros((len(TOKENS), 3), numpy.float32)
    table[TOKENS.index("yes"), 2] = table[TOKENS.index("no"), 0] = 4.0
    make, number = onnx.helper, onnx.TensorProto
    graph = make.make_graph(
        [
            make.make_node("Gather", ["table", "input_ids"], ["each"]),
            make.make_node("Cast", ["attention_mask"], ["mask"], to=number.FLOAT),
            make.make_node("Unsqueeze", ["mask", "last"], ["column"]),
            make.make_node("Mul", ["each", "column"], ["read"]),
            make.make_node("ReduceSum", ["read", "second"], ["logits"], keepdims=0),
        ],
        "tiny",
        [
            make.make_tensor_value_info(name, number.INT64, ["batch", length or "length"])
            for name in ("input_ids", "attention_mask")
        ],
        [make.make_tensor_value_info("logits", number.FLOAT, ["batch", 3])],
        [
            onnx.numpy_helper.from_array(table, "table"),
            onnx.numpy_helper.from_array(numpy.array([2], numpy.int64), "last"),
            onnx.numpy_helper.from_array(numpy.array([1], numpy.int64), "second"),
        ],
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)
    (folder / "onnx").mkdir()
    onnx.save(model, str(folder / "onnx" / "model.onnx"))
    labels = {"0": "contradiction", "1": "neutral", "2": "Entailment"}
    (folder / "config.json").write_text(json.dumps({"id2label": labels}))
    return folder


def open_model(folder: Path, **settings: Any) -> OnnxEntailment:
    """Open the model of a folder as the settings have it opened."""
    return OnnxEntailment.open(GuardSettings(entailment_model=str(folder), **settings))


def yes_or_no(yes: float) -> dict[str, Any]:
    """Return an answer of a model server by which yes has this probability, and no the rest."""
    return first_token({" Yes": math.log(yes), "no": math.log(1 - yes)})


def first_token(logarithms: dict[str, float]) -> dict[str, Any]:
    """Return an answer of a model server that may begin with these tokens."""
    tokens = [{"token": word, "logprob": logarithm} for word, logarithm in logarithms.items()]
    return {"choices": [{"logprobs": {"content": [{"top_logprobs": tokens}]}, "message": {"content": "Yes"}}]}


async def answer(request: web.Request) -> web.Response:
    question = (await request.json())["messages"][-1]["content"]
    return web.json_response(yes_or_no(0.9 if "yes moons" in question else 0.1))


@pytest.fixture(params=["onnx", "onnx of a fixed length", "chat"])
async def model(request: pytest.FixtureRequest, tmp_path: Path, serve: Serve) -> AsyncIterator[Entailment]:
    if request.param == "chat":
        base = await serve({"POST /v1/chat/completions": answer})
        async with ChatClient(f"{base}/v1", "tiny", None, 5.0, 1) as chat:
            yield ChatEntailment(chat, 4)
    else:
        length = 24 if "fixed" in request.param else None
        yield open_model(write_model(tmp_path, length=length), entailment_languages=("en",))


async def test_each_pair_gets_its_probability_in_order(model: Entailment) -> None:
    pairs = [SAME, OTHER, SAME] * 12
    answers = await model.follows(pairs)
    assert [answer > 0.8 for answer in answers] == [pair is SAME for pair in pairs]
    assert all(0 <= answer <= 1 for answer in answers)


async def test_a_pair_is_answered_alike_whatever_stands_beside_it(model: Entailment) -> None:
    (alone,) = await model.follows([SAME])
    beside, _ = await model.follows([SAME, Pair("moons " * 100, "free " * 40)])
    assert beside == pytest.approx(alone, abs=1e-6)


async def test_no_pairs_give_no_answers(model: Entailment) -> None:
    assert await model.follows([]) == []


@pytest.mark.parametrize("text", ["", "\x00", "bad \ud800 surrogate", "moons " * 5000, "🙂", "Text B: ]["])
async def test_any_text_gets_a_probability(model: Entailment, text: str) -> None:
    (answer,) = await model.follows([Pair(text, text)])
    assert 0 <= answer <= 1


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (200, {"choices": [{"message": {"content": "Yes"}}]}, ModelRefused),
        (200, {"choices": []}, ModelRefused),
        (200, first_token({"Yes": math.nan}), ModelRefused),
        (400, {"error": "no"}, ModelRefused),
        (503, {}, ModelUnavailable),
    ],
)
async def test_a_server_that_can_not_judge_says_so(
    serve: Serve, status: int, body: dict[str, Any], error: type[Exception]
) -> None:
    async def refuse(request: web.Request) -> web.Response:
        return web.json_response(body, status=status)

    base = await serve({"POST /v1/chat/completions": refuse})
    async with ChatClient(f"{base}/v1", "tiny", None, 5.0, 1) as chat:
        with pytest.raises(error):
            await ChatEntailment(chat, 4).follows([SAME])


async def test_an_answer_that_is_neither_yes_nor_no_vouches_for_nothing(serve: Serve) -> None:
    async def think(request: web.Request) -> web.Response:
        return web.json_response(first_token({"<think>": -0.1}))

    base = await serve({"POST /v1/chat/completions": think})
    async with ChatClient(f"{base}/v1", "tiny", None, 5.0, 1) as chat:
        assert await ChatEntailment(chat, 4).follows([SAME]) == [0.0]


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    with pytest.raises(WeightsError, match="holds no entailment model"):
        open_model(tmp_path)


def test_a_torn_model_is_named(tmp_path: Path) -> None:
    folder = write_model(tmp_path)
    (folder / "onnx" / "model.onnx").write_bytes(b"torn")
    with pytest.raises(WeightsError, match="can't be read"):
        open_model(folder)


@pytest.mark.parametrize("written", ["torn", '{"id2label": ["entailment"]}', '{"id2label": {"one": "entailment"}}'])
def test_labels_that_can_not_be_read_are_named(tmp_path: Path, written: str) -> None:
    pytest.importorskip("tokenizers")
    (tmp_path / "config.json").write_text(written)
    with pytest.raises(WeightsError, match=r"config\.json can't be read"):
        open_model(tmp_path)


def test_what_is_not_installed_is_a_bad_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.entailment.find_spec", lambda name: None)
    with pytest.raises(BadSettings, match=r"rejoinder\[entailment\]"):
        open_model(tmp_path)


def test_a_hub_model_without_a_commit_is_refused() -> None:
    with pytest.raises(BadSettings, match=r"'some/model', .* Set guard\.entailment_revision to the commit"):
        OnnxEntailment.open(GuardSettings(entailment_model="some/model"))


def test_a_hub_model_is_fetched_at_its_commit_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")
    folder, fetched = write_model(tmp_path), []

    def snapshot_download(name: str, *, revision: str, allow_patterns: list[str]) -> str:
        fetched.append((name, revision))
        return str(folder)

    monkeypatch.setattr(hub, "snapshot_download", snapshot_download)
    OnnxEntailment.open(GuardSettings(entailment_model="some/model", entailment_revision="ab" * 20))
    assert fetched == [("some/model", "ab" * 20)]


@pytest.mark.parametrize("revision", ["main", "v1.0", "ab12"])
def test_a_branch_is_no_commit(revision: str) -> None:
    with pytest.raises(ValidationError, match="entailment_revision"):
        GuardSettings(entailment_revision=revision)


def test_another_file_than_the_one_with_the_hash_is_not_loaded(tmp_path: Path) -> None:
    folder = write_model(tmp_path)
    right = hashlib.sha256((folder / "onnx" / "model.onnx").read_bytes()).hexdigest()
    open_model(folder, entailment_sha256=right)
    with pytest.raises(WeightsError, match=r"not the file that guard\.entailment_sha256 names: its sha256 is " + right):
        open_model(folder, entailment_sha256="0" * 64)


async def test_so_many_questions_are_asked_at_once_and_no_more(serve: Serve) -> None:
    running, most = 0, 0

    async def count(request: web.Request) -> web.Response:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return web.json_response(yes_or_no(0.9))

    base = await serve({"POST /v1/chat/completions": count})
    async with ChatClient(f"{base}/v1", "tiny", None, 5.0, 1) as chat:
        assert len(await ChatEntailment(chat, 3).follows([SAME] * 12)) == 12
    assert most == 3


async def test_the_first_refusal_ends_the_other_questions(serve: Serve) -> None:
    asked = 0

    async def refuse(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        return web.json_response({"error": "no"}, status=400)

    base = await serve({"POST /v1/chat/completions": refuse})
    async with ChatClient(f"{base}/v1", "tiny", None, 5.0, 1) as chat:
        with pytest.raises(ModelRefused):
            await ChatEntailment(chat, 2).follows([SAME] * 50)
    assert asked < 10
