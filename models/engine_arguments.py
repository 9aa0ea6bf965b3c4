"""Build the command line that makes each llama.cpp engine serve a model."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from core.settings import ChatSettings
from models.cpu import usable_cores

HOST = "127.0.0.1"
GGML_TYPES = {
    "f32": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8, "iq4_nl": 20, "bf16": 30,
}  # fmt: skip
"""The numbers of ggml's `ggml_type`, by which llama-cpp-python names the KV cache's formats."""


@dataclass(frozen=True)
class Weights:
    """The GGUF files of a served model: its own, and those of a smaller model that drafts tokens ahead."""

    model: Path
    draft: Path | None = None


def command(settings: ChatSettings, weights: Weights, port: int) -> list[str]:
    """Return the command line that serves `weights` on loopback with the engine in `settings`.

    llama.cpp splits its context among the slots, so the total is `context_tokens` times `slots`; llama-cpp-python has
    one slot.
    """
    engines = {"xllamacpp": _xllamacpp, "llama-cpp-python": _llama_cpp_python, "llama-server": _llama_server}
    return engines[settings.engine](settings, weights, port)


def script() -> list[str]:
    """Return the start of the command line for xllamacpp's server."""
    # -P keeps the script's folder out of the import path, where models/ would shadow other packages.
    return [sys.executable, "-P", str(Path(__file__).with_name("xllamacpp_server.py"))]


def _xllamacpp(settings: ChatSettings, weights: Weights, port: int) -> list[str]:
    return [
        *script(), "--model", str(weights.model), "--alias", settings.model, "--host", HOST, "--port", str(port),
        "--slots", str(settings.slots), "--context", str(settings.context_tokens), "--threads", _threads(settings),
        "--gpu-layers", str(settings.gpu_layers), "--flash-attention", settings.flash_attention,
        *_given("--batch", settings.batch_tokens), *_given("--micro-batch", settings.micro_batch_tokens),
        "--cache-type-k", settings.cache_type_k, "--cache-type-v", settings.cache_type_v,
        *_given("--draft-model", weights.draft), *(["--ngram-speculation"] if settings.ngram_speculation else []),
        *(word for adapter in settings.adapters.values() for word in ("--adapter", str(adapter))),
        *(f"--set={assignment}" for assignment in settings.server_args),
    ]  # fmt: skip


def _llama_cpp_python(settings: ChatSettings, weights: Weights, port: int) -> list[str]:
    layers = settings.gpu_layers if isinstance(settings.gpu_layers, int) else -1
    return [
        sys.executable, "-P", "-m", "llama_cpp.server", "--model", str(weights.model), "--model_alias", settings.model,
        "--host", HOST, "--port", str(port), "--n_ctx", str(settings.context_tokens), "--n_threads", _threads(settings),
        # Without this option it stays on the CPU; -1 means all layers.
        "--n_gpu_layers", str(layers),
        *([] if settings.flash_attention == "auto" else ["--flash_attn", str(settings.flash_attention == "on")]),
        *_given("--n_batch", settings.batch_tokens), *_given("--n_ubatch", settings.micro_batch_tokens),
        "--type_k", str(GGML_TYPES[settings.cache_type_k]), "--type_v", str(GGML_TYPES[settings.cache_type_v]),
        *(["--draft_model", "prompt-lookup-decoding"] if settings.ngram_speculation else []),
        *settings.server_args,
    ]  # fmt: skip


def _llama_server(settings: ChatSettings, weights: Weights, port: int) -> list[str]:
    adapters = ",".join(str(adapter) for adapter in settings.adapters.values())
    return [
        settings.binary, "--model", str(weights.model), "--alias", settings.model, "--host", HOST, "--port", str(port),
        "--parallel", str(settings.slots), "--ctx-size", str(settings.context_tokens * settings.slots),
        "--threads", _threads(settings), "--n-gpu-layers", str(settings.gpu_layers),
        "--flash-attn", settings.flash_attention,
        *_given("--batch-size", settings.batch_tokens), *_given("--ubatch-size", settings.micro_batch_tokens),
        "--cache-type-k", settings.cache_type_k, "--cache-type-v", settings.cache_type_v,
        *(["--model-draft", str(weights.draft), "--spec-type", "draft-simple"] if weights.draft else []),
        *(["--spec-type", "ngram-simple"] if settings.ngram_speculation else []),
        *(["--lora", adapters] if adapters else []),
        *settings.server_args,
    ]  # fmt: skip


def _threads(settings: ChatSettings) -> str:
    return str(settings.threads or usable_cores())


def _given(option: str, value: object) -> list[str]:
    """Return the option with its value; nothing for None."""
    return [] if value is None else [option, str(value)]
