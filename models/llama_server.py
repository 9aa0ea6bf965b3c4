"""Run a llama.cpp server as a supervised child process on loopback.

Three engines serve the same HTTP interface: `xllamacpp` (a prebuilt wheel), `llama-cpp-python` (its `llama_cpp.server`,
one request at a time) and a `llama-server` binary. Each of them can crash, so it always runs in another process.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import shutil
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from core.child import Child, free_port, keep_running
from core.environment import MODELS, child_environment
from core.errors import ModelUnavailable, Unavailable
from core.settings import ChatSettings
from models.endpoint import Endpoint
from models.engine_arguments import HOST, Weights, command

log = logging.getLogger(__name__)

START_S = 180.0
"""Seconds that a server may take to load its weights; gigabytes from a slow disk take minutes."""
PROBE_EVERY_S = 15.0
HANGS_AFTER = 2
"""Consecutive probes without an answer after which a server counts as hanging; each waits as a completion does."""


def missing(settings: ChatSettings) -> str | None:
    """Return what the engine lacks on this machine and how to get it; None if it can start."""
    if settings.engine == "llama-server" and shutil.which(settings.binary) is None:
        return f"The program {settings.binary!r} is not on PATH; install llama.cpp or set chat.binary to where it is."
    if settings.engine == "llama-cpp-python" and importlib.util.find_spec("llama_cpp") is None:
        return "llama-cpp-python is not installed; install it with: pip install 'rejoinder[llama-cpp-python]'"
    if settings.engine == "xllamacpp" and importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is not installed; install it with: pip install xllamacpp"
    return None


class LlamaServer:
    """A llama.cpp server that is restarted on the same port whenever it dies or hangs; use it as a context manager.

    Entering waits until the weights are loaded. Raises ModelUnavailable with the end of the log if the first start
    fails; later deaths are logged, and the server is restarted. `on_hang` is called each time a hanging server is
    ended.
    """

    def __init__(
        self,
        settings: ChatSettings,
        weights: Weights | Path,
        log_file: Path | None,
        port: int | None = None,
        on_hang: Callable[[], None] | None = None,
        probe_every_s: float = PROBE_EVERY_S,
    ) -> None:
        self.port = port or free_port(HOST)
        self._settings = settings
        self._weights = Weights(weights) if isinstance(weights, Path) else weights
        self._log_file = log_file
        self._child: Child | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._on_hang = on_hang
        self._probe_every_s = probe_every_s

    @property
    def endpoint(self) -> str:
        """Return the base URL for a ChatClient."""
        return f"http://{HOST}:{self.port}/v1"

    @property
    def pid(self) -> int | None:
        """Return the server's process id; None while it is down."""
        return self._child.pid if self._child is not None and self._child.running else None

    async def __aenter__(self) -> Self:
        if complaint := missing(self._settings):
            raise ModelUnavailable(complaint)
        self._look_for_files()
        if _in_use(self.port):
            raise ModelUnavailable(f"Port {self.port} of {HOST} is in use; stop what listens there or choose another.")
        try:
            first = await self._start()
        except (Unavailable, OSError) as error:
            raise ModelUnavailable(str(error)) from None
        self._keeper = asyncio.create_task(self._keep(first), name="chat server keeper")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in (self._keeper, self._watcher):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        if self._child is not None:
            await self._child.stop()

    def _look_for_files(self) -> None:
        """Raise ModelUnavailable if a file is missing that llama.cpp needs."""
        needed = [(self._weights.model, self._settings.model)]
        if self._weights.draft is not None:
            needed.append((self._weights.draft, str(self._settings.draft_model)))
        for path, name in needed:
            if not path.is_file():
                advice = f"fetch them with: rejoinder models pull {name}"
                raise ModelUnavailable(f"The weights {path} are not there; {advice}")
        for intent, path in self._settings.adapters.items():
            if not path.is_file():
                raise ModelUnavailable(f"The adapter {path} is not there; see chat.adapters, {intent}.")

    async def _keep(self, first: Child) -> None:
        started = [first]

        async def next_child() -> Child:
            return started.pop() if started else await self._start()

        await keep_running(next_child)

    async def _start(self) -> Child:
        argv = command(self._settings, self._weights, self.port)
        child = Child(
            f"chat server ({self._settings.engine})", argv, env=child_environment(*MODELS), log_file=self._log_file
        )
        self._child = child
        await child.start()
        try:
            async with Endpoint(self.endpoint, None, timeout_s=5.0, attempts=1) as endpoint:
                await child.wait_until_ready(endpoint.healthy, START_S)
        except BaseException:
            await child.stop()
            raise
        self._watcher = asyncio.create_task(self._watch(child), name="chat server watcher")
        return child

    async def _watch(self, child: Child) -> None:
        """End a server that hangs, so that its keeper restarts it; return once it has ended."""
        within_s, missed = self._settings.timeout_s, 0
        async with Endpoint(self.endpoint, None, within_s, attempts=1) as endpoint:
            while missed < HANGS_AFTER:
                await asyncio.sleep(self._probe_every_s)
                if not child.running:
                    return
                missed = 0 if await endpoint.responds(within_s) else missed + 1
        log.error("%s hangs: %d probes in a row had no answer within %.0f s; ending it", child.name, missed, within_s)
        if self._on_hang is not None:
            self._on_hang()
        await child.stop()


def _in_use(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return True
    return False
