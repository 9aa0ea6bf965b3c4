"""Run llama.cpp's own HTTP server out of the `xllamacpp` wheel until told to end.

    python -m models.xllamacpp_server --model FILE --port 8081
    python -m models.xllamacpp_server --devices

Imports nothing of the project, so that it starts as a plain script wherever it lies.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from typing import Any

ALL_LAYERS = {"auto": -1, "all": -2}
"""The negative numbers by which llama.cpp's `n_gpu_layers` encodes these words."""


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", action="store_true", help="print what this build computes on, as JSON, and end")
    parser.add_argument("--model", default="", help="GGUF file")
    parser.add_argument("--alias", default="", help="name by which the server knows the model")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8081)
    parser.add_argument("--slots", type=int, default=1, help="requests worked on at once")
    parser.add_argument("--context", type=int, default=2048, help="tokens per slot")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--embeddings", action="store_true", help="serve /v1/embeddings (mean pooling), no chat")
    parser.add_argument("--gpu-layers", default="auto", help="layers on the GPU: a number, auto or all")
    parser.add_argument("--flash-attention", choices=["auto", "on", "off"], default="auto")
    parser.add_argument("--batch", type=int, help="tokens of prompts taken up at once")
    parser.add_argument("--micro-batch", type=int, help="tokens computed in one step")
    parser.add_argument("--cache-type-k", default="f16", help="number format of the KV cache's keys")
    parser.add_argument("--cache-type-v", default="f16", help="number format of the KV cache's values")
    parser.add_argument("--draft-model", help="GGUF file of a smaller model that guesses ahead")
    parser.add_argument("--ngram-speculation", action="store_true", help="guess ahead from the prompt")
    parser.add_argument("--adapter", action="append", default=[], help="GGUF file of a LoRA adapter; repeatable")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any parameter of CommonParams; repeatable"
    )
    args = parser.parse_args(argv)
    if not (args.model or args.devices):
        parser.error("--model is missing")
    return args


def parameters(args: argparse.Namespace) -> Any:
    """Return llama.cpp's parameters for a command line; raises ValueError for an unknown one."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = args.model
    if args.alias:
        params.model_alias = {args.alias}
    params.hostnames = [args.host]
    params.port = args.port
    params.n_parallel = args.slots
    # llama.cpp splits its context among the slots.
    params.n_ctx = args.context * args.slots
    params.cpuparams.n_threads = args.threads
    params.cpuparams_batch.n_threads = args.threads
    params.ui = False
    # Keeps pages in the user's browser from reading this server's answers.
    params.cors_origins = f"http://{args.host}"
    if args.embeddings:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    _accelerate(params, args)
    for assignment in args.set:
        _assign(params, assignment)
    return params


def _accelerate(params: Any, args: argparse.Namespace) -> None:
    import xllamacpp

    attention = {"auto": "AUTO", "on": "ENABLED", "off": "DISABLED"}[args.flash_attention]
    params.n_gpu_layers = ALL_LAYERS[args.gpu_layers] if args.gpu_layers in ALL_LAYERS else int(args.gpu_layers)
    params.flash_attn_type = xllamacpp.llama_flash_attn_type[f"LLAMA_FLASH_ATTN_TYPE_{attention}"]
    params.n_batch = args.batch or params.n_batch
    params.n_ubatch = args.micro_batch or min(params.n_ubatch, params.n_batch)
    params.cache_type_k = xllamacpp.ggml_type[f"GGML_TYPE_{args.cache_type_k.upper()}"]
    params.cache_type_v = xllamacpp.ggml_type[f"GGML_TYPE_{args.cache_type_v.upper()}"]
    kinds = xllamacpp.common_speculative_type
    if args.draft_model:
        params.speculative.types = [kinds.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
        params.speculative.draft.mparams.path = args.draft_model
        params.speculative.draft.n_gpu_layers = params.n_gpu_layers
        params.speculative.draft.cpuparams.n_threads = args.threads
    elif args.ngram_speculation:
        params.speculative.types = [kinds.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
    if args.adapter:
        params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(path, 1.0) for path in args.adapter]


def _assign(params: Any, assignment: str) -> None:
    """Set `name=value` or `part.name=value`, converted to the present value's type; raises ValueError if that fails."""
    path, given, text = assignment.partition("=")
    *parts, name = path.split(".")
    owner = params
    for part in parts:
        owner = getattr(owner, part, None)
    present = getattr(owner, name, None)
    if not given or not isinstance(present, bool | int | float | str):
        raise ValueError(f"{assignment!r} is no NAME=VALUE of a plain parameter of xllamacpp's CommonParams")
    if isinstance(present, bool):
        if text not in ("true", "false"):
            raise ValueError(f"{assignment!r}: write true or false")
        setattr(owner, name, text == "true")
    else:
        setattr(owner, name, type(present)(text))


def devices() -> list[dict[str, Any]]:
    """Return name, description, kind, free and total bytes of each device that this build can compute on."""
    import xllamacpp

    return [
        {
            "name": device["name"],
            "description": device["description"],
            "kind": device["type"].name.rpartition("_")[2].lower(),
            "free": device["memory_free"],
            "total": device["memory_total"],
        }
        for device in xllamacpp.get_device_info()
    ]


def main() -> int:
    """Start the server and run until SIGTERM or SIGINT."""
    args = parse()
    if args.devices:
        sys.stdout.write(json.dumps(devices()))
        return 0
    stop = {signal.SIGTERM, signal.SIGINT}
    # Blocked before llama.cpp starts its threads, which inherit the mask, so that only sigwait below receives them.
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    import xllamacpp

    try:
        server = xllamacpp.Server(parameters(args))
    except (RuntimeError, ValueError, KeyError) as error:
        sys.stderr.write(f"llama.cpp can't serve {args.model} on {args.host}:{args.port}: {error}\n")
        return 1
    sys.stderr.write(f"serving {args.model} on {server.listening_address}\n")
    sys.stderr.flush()
    while signal.sigwait(stop) not in stop:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
