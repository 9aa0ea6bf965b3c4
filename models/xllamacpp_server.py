"""Run llama.cpp's own HTTP server out of the `xllamacpp` wheel until told to end.

    python -m models.xllamacpp_server --model FILE --port 8081

Imports nothing of the project, so that it starts as a plain script wherever it lies.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="GGUF file")
    parser.add_argument("--alias", default="", help="name by which the server knows the model")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--slots", type=int, default=1, help="requests worked on at once")
    parser.add_argument("--context", type=int, default=2048, help="tokens per slot")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--embeddings", action="store_true", help="serve /v1/embeddings (mean pooling), no chat")
    return parser.parse_args(argv)


def main() -> int:
    """Start the server and stay until SIGTERM or SIGINT."""
    args = parse()
    stop = {signal.SIGTERM, signal.SIGINT}
    # Blocked before llama.cpp starts its threads, which inherit the mask: only sigwait below ever takes them.
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = args.model
    if args.alias:
        params.model_alias = {args.alias}
    params.hostnames = [args.host]
    params.port = args.port
    params.n_parallel = args.slots
    # llama.cpp splits its context over the slots.
    params.n_ctx = args.context * args.slots
    params.cpuparams.n_threads = args.threads
    params.cpuparams_batch.n_threads = args.threads
    params.ui = False
    # No page in the user's browser may read answers from this server.
    params.cors_origins = f"http://{args.host}"
    if args.embeddings:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        sys.stderr.write(f"llama.cpp can't serve {args.model} on {args.host}:{args.port}: {error}\n")
        return 1
    sys.stderr.write(f"serving {args.model} on {server.listening_address}\n")
    sys.stderr.flush()
    while signal.sigwait(stop) not in stop:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
