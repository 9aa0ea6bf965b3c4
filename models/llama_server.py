"""Run a llama.cpp server as a supervised child on loopback.

The same HTTP from three engines: `xllamacpp` (a prebuilt wheel), `llama-cpp-python` (its `llama_cpp.server`; one
request at a time) and a `llama-server` binary. Each of them can crash, so it is always another process.
"""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
import socket
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from core.child import Child, free_port, keep_running
from core.environment import MODELS, environment
from core.errors import ModelUnavailable, Unavailable
from core.settings import ChatSettings
from models.cpu import usable_cores
from models.endpoint import Endpoint

HOST = "127.0.0.1"
START_S = 180.0
"""Seconds a server may take to load its weights; gigabytes from a slow disk take minutes."""


def command(settings: ChatSettings, weights: Path, port: int) -> list[str]:
    """Return the command line that serves `weights` on loopback with the engine in `settings`.

    llama.cpp splits its context over the slots, so the total is `context_tokens` times `slots`; llama-cpp-python has
    one slot.
    """
    threads = settings.threads or usable_cores()
    total = settings.context_tokens * settings.slots
    if settings.engine == "xllamacpp":
        script = Path(__file__).with_name("xllamacpp_server.py")
        return [
            # -P: a script's folder is no place to import from, or models/ would shadow other packages.
            sys.executable, "-P", str(script), "--model", str(weights), "--alias", settings.model, "--host", HOST,
            "--port", str(port), "--slots", str(settings.slots), "--context", str(settings.context_tokens),
            "--threads", str(threads),
        ]  # fmt: skip
    if settings.engine == "llama-cpp-python":
        return [
            sys.executable, "-P", "-m", "llama_cpp.server", "--model", str(weights), "--model_alias", settings.model,
            "--host", HOST, "--port", str(port), "--n_ctx", str(settings.context_tokens), "--n_threads", str(threads),
        ]  # fmt: skip
    return [
        settings.binary, "--model", str(weights), "--alias", settings.model, "--host", HOST, "--port", str(port),
        "--parallel", str(settings.slots), "--ctx-size", str(total), "--threads", str(threads),
    ]  # fmt: skip


def missing(settings: ChatSettings) -> str | None:
    """Say what the engine lacks on this machine and how to get it; None when it can start."""
    if settings.engine == "llama-server" and shutil.which(settings.binary) is None:
        return f"The program {settings.binary!r} is not on PATH; install llama.cpp or set chat.binary to where it is."
    if settings.engine == "llama-cpp-python" and importlib.util.find_spec("llama_cpp") is None:
        return "llama-cpp-python is not installed; install it with: pip install 'rejoinder[llama-cpp-python]'"
    if settings.engine == "xllamacpp" and importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is not installed; install it with: pip install xllamacpp"
    return None


class LlamaServer:
    """A llama.cpp server that is started again whenever it dies, on the same port; use as a context manager.

    Entering waits until the weights are loaded. Raises ModelUnavailable with the end of the log when the server can't
    come up the first time; later deaths are logged and mended.
    """

    def __init__(self, settings: ChatSettings, weights: Path, log_file: Path | None, port: int | None = None) -> None:
        self.port = port or free_port(HOST)
        self._settings = settings
        self._weights = weights
        self._log_file = log_file
        self._child: Child | None = None
        self._keeper: asyncio.Task[None] | None = None

    @property
    def endpoint(self) -> str:
        """Return the base URL for a ChatClient."""
        return f"http://{HOST}:{self.port}/v1"

    @property
    def pid(self) -> int | None:
        """Return the process id of the server, None while it is down."""
        return self._child.pid if self._child is not None and self._child.running else None

    async def __aenter__(self) -> Self:
        if complaint := missing(self._settings):
            raise ModelUnavailable(complaint)
        if not self._weights.is_file():
            raise ModelUnavailable(
                f"The weights {self._weights} are not there; "
                f"fetch them with: rejoinder models pull {self._settings.model}"
            )
        if _in_use(self.port):
            raise ModelUnavailable(f"Port {self.port} of {HOST} is in use; stop what listens there or choose another.")
        try:
            first = await self._start()
        except Unavailable as error:
            raise ModelUnavailable(str(error)) from None
        self._keeper = asyncio.create_task(self._keep(first), name="chat server keeper")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper
        if self._child is not None:
            await self._child.stop()

    async def _keep(self, first: Child) -> None:
        started = [first]

        async def next_child() -> Child:
            return started.pop() if started else await self._start()

        await keep_running(next_child)

    async def _start(self) -> Child:
        argv = command(self._settings, self._weights, self.port)
        child = Child(f"chat server ({self._settings.engine})", argv, env=environment(*MODELS), log_file=self._log_file)
        self._child = child
        await child.start()
        try:
            async with Endpoint(self.endpoint, None, timeout_s=5.0, attempts=1) as endpoint:
                await child.until(endpoint.healthy, START_S)
        except BaseException:
            await child.stop()
            raise
        return child


def _in_use(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return True
    return False
