"""How each engine is told to use a GPU, and that llama.cpp starts with what it is told."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from pydantic import ValidationError

from core.domain import Intent
from core.errors import ModelUnavailable
from core.settings import ChatSettings
from models import xllamacpp_server
from models.chat import ChatClient, Message
from models.engine_arguments import Weights, command
from models.llama_server import LlamaServer

WEIGHTS = Weights(Path("w.gguf"), Path("small.gguf"))
ADAPTERS = {"informative": "in.gguf", "positive": "pos.gguf"}
FAST = {
    "gpu_layers": 20, "flash_attention": "on", "batch_tokens": 512, "micro_batch_tokens": 128,
    "cache_type_k": "q8_0", "cache_type_v": "q4_0", "threads": 1, "slots": 2,
}  # fmt: skip


def settings(engine: str, **more: object) -> ChatSettings:
    return ChatSettings.model_validate({"model": "smollm2-135m", "engine": engine, **FAST, **more})


def followed_by(argv: list[str], *pairs: tuple[str, str]) -> bool:
    """Tell whether each option stands in the command line with its value."""
    return all((option, value) in pairwise(argv) for option, value in pairs)


def test_a_llama_server_binary_is_told_in_its_own_words() -> None:
    chosen = settings("llama-server", draft_model="d", adapters=ADAPTERS, server_args=["--metrics"])
    argv = command(chosen, WEIGHTS, 8081)
    assert followed_by(
        argv, ("--n-gpu-layers", "20"), ("--flash-attn", "on"), ("--batch-size", "512"), ("--ubatch-size", "128"),
        ("--cache-type-k", "q8_0"), ("--cache-type-v", "q4_0"), ("--model-draft", "small.gguf"),
        ("--spec-type", "draft-simple"), ("--lora", "in.gguf,pos.gguf"),
    )  # fmt: skip
    assert argv[-1] == "--metrics"
    argv = command(settings("llama-server", ngram_speculation=True, gpu_layers="all"), Weights(Path("w.gguf")), 8081)
    assert followed_by(argv, ("--spec-type", "ngram-simple"), ("--n-gpu-layers", "all"))
    assert "--model-draft" not in argv and "--lora" not in argv


def test_llama_cpp_python_is_told_in_its_own_words() -> None:
    chosen = settings("llama-cpp-python", ngram_speculation=True, server_args=["--main_gpu", "1"])
    argv = command(chosen, Weights(Path("w.gguf")), 8081)
    assert followed_by(
        argv, ("--n_gpu_layers", "20"), ("--flash_attn", "True"), ("--n_batch", "512"), ("--n_ubatch", "128"),
        ("--type_k", "8"), ("--type_v", "2"), ("--draft_model", "prompt-lookup-decoding"), ("--main_gpu", "1"),
    )  # fmt: skip
    plain = command(ChatSettings(engine="llama-cpp-python"), Weights(Path("w.gguf")), 8081)
    assert followed_by(plain, ("--n_gpu_layers", "-1")), "alone it would stay on the CPU"
    assert "--flash_attn" not in plain and "--draft_model" not in plain


def parameters(chosen: ChatSettings, weights: Weights = WEIGHTS) -> Any:
    argv = command(chosen, weights, 8081)
    return xllamacpp_server.parameters(xllamacpp_server.parse(argv[argv.index("--model") :]))


def test_the_words_for_xllamacpp_become_its_parameters() -> None:
    args = ["cache_ram_mib=0", "endpoint_metrics=true", "speculative.draft.n_max=5", "slot_prompt_similarity=0.5"]
    params = parameters(settings("xllamacpp", draft_model="d", adapters=ADAPTERS, server_args=args))
    assert (params.n_gpu_layers, params.n_batch, params.n_ubatch) == (20, 512, 128)
    assert params.flash_attn_type.name.endswith("_ENABLED")
    assert (params.cache_type_k.name, params.cache_type_v.name) == ("GGML_TYPE_Q8_0", "GGML_TYPE_Q4_0")
    assert [kind.name for kind in params.speculative.types] == ["COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE"]
    assert (params.speculative.draft.mparams.path, params.speculative.draft.n_gpu_layers) == ("small.gguf", 20)
    assert [adapter.path for adapter in params.lora_adapters] == ["in.gguf", "pos.gguf"]
    assert (params.cache_ram_mib, params.endpoint_metrics, params.speculative.draft.n_max) == (0, True, 5)
    assert params.slot_prompt_similarity == 0.5


def test_left_alone_xllamacpp_chooses() -> None:
    params = parameters(ChatSettings(), Weights(Path("w.gguf")))
    assert (params.n_gpu_layers, params.flash_attn_type.name) == (-1, "LLAMA_FLASH_ATTN_TYPE_AUTO")
    assert [kind.name for kind in params.speculative.types] == ["COMMON_SPECULATIVE_TYPE_NONE"]
    assert parameters(ChatSettings(gpu_layers="all")).n_gpu_layers == -2
    ngram = parameters(ChatSettings(ngram_speculation=True), Weights(Path("w.gguf"))).speculative.types
    assert [kind.name for kind in ngram] == ["COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE"]


@pytest.mark.parametrize("wrong", ["nothing=1", "cache_ram_mib", "cache_ram_mib=many", "cpuparams=1", "ui=maybe"])
def test_an_argument_that_xllamacpp_does_not_know_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"NAME=VALUE|true or false|invalid literal"):
        parameters(ChatSettings(server_args=(wrong,)))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"cache_type_v": "q8_0", "flash_attention": "off"}, "needs flash attention"),
        ({"draft_model": "smollm2-135m", "ngram_speculation": True}, "set one of them"),
        ({"engine": "llama-cpp-python", "draft_model": "smollm2-135m"}, "takes neither"),
        ({"engine": "llama-cpp-python", "adapters": ADAPTERS}, "takes neither"),
        ({"batch_tokens": 64, "micro_batch_tokens": 128}, "must not be more"),
    ],
)
def test_settings_that_no_engine_can_serve_are_refused_with_the_reason(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        ChatSettings.model_validate(given)


async def test_an_adapter_or_draft_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    there = tmp_path / "w.gguf"
    there.touch()
    with pytest.raises(ModelUnavailable, match=r"nowhere\.gguf is not there; see chat\.adapters, positive"):
        async with LlamaServer(ChatSettings(adapters={Intent.POSITIVE: tmp_path / "nowhere.gguf"}), there, None):
            pass
    with pytest.raises(ModelUnavailable, match="rejoinder models pull smollm2-135m"):
        async with LlamaServer(ChatSettings(draft_model="smollm2-135m"), Weights(there, tmp_path / "no.gguf"), None):
            pass


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def write_adapter(path: Path, size: int = 576, rank: int = 1) -> None:
    """Write a LoRA adapter in GGUF (version 3) that upsets the first layer's queries of SmolLM2."""
    fields = b"".join(
        text(key) + struct.pack("<I", 8) + text(value)
        for key, value in (
            ("general.type", "adapter"), ("general.architecture", "llama"), ("adapter.type", "lora"),
        )
    ) + text("adapter.lora.alpha") + struct.pack("<If", 6, 1.0)  # fmt: skip
    shapes = {"blk.0.ffn_down.weight.lora_a": (1536, rank), "blk.0.ffn_down.weight.lora_b": (rank, size)}
    tensors, data = b"", b""
    for name, (width, height) in shapes.items():
        tensors += text(name) + struct.pack("<IQQIQ", 2, width, height, 0, len(data))
        values = struct.pack(f"<{width * height}f", *([3.0, -2.0, 1.0] * (width * height))[: width * height])
        data += values + b"\0" * (-len(values) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), 4) + fields + tensors
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data)


ASK = [Message("user", "Name a river in Europe.")]


@pytest.mark.live
async def test_a_real_server_starts_with_all_of_it_on_a_processor(smollm2: Path, tmp_path: Path) -> None:
    chosen = settings("xllamacpp", draft_model="itself", server_args=["endpoint_metrics=true"], cache_type_v="q8_0")
    async with (
        LlamaServer(chosen, Weights(smollm2, smollm2), tmp_path / "server.log") as server,
        ChatClient(server.endpoint, "smollm2-135m", None, 120.0, 1) as chat,
        aiohttp.ClientSession() as http,
    ):
        assert (await chat.complete(ASK, max_tokens=12, temperature=0.0))[0].text
        async with http.get(server.endpoint.removesuffix("/v1") + "/metrics") as answer:
            counters = await answer.text()
    guessed = next(line for line in counters.splitlines() if line.startswith("llamacpp:spec_decode_num_draft_tokens"))
    assert float(guessed.split()[1]) > 0, "the draft model guessed ahead"


@pytest.mark.live
async def test_each_request_has_the_adapter_of_its_intent(smollm2: Path, tmp_path: Path) -> None:
    adapter = tmp_path / "upset.gguf"
    write_adapter(adapter)
    chosen = ChatSettings(model="smollm2-135m", threads=1, slots=1, adapters={Intent.POSITIVE: adapter})
    async with (
        LlamaServer(chosen, smollm2, tmp_path / "server.log") as server,
        ChatClient(server.endpoint, "smollm2-135m", None, 120.0, 1, adapters=tuple(chosen.adapters)) as chat,
    ):
        answers = [
            (await chat.complete(ASK, max_tokens=12, temperature=0.0, adapter=name))[0].text
            for name in (None, Intent.POSITIVE, Intent.DENOUNCING)
        ]
    assert answers[0] == answers[2] != answers[1]
