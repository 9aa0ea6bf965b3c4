"""Other programs, run as child processes that never outlive this one."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from core import tether
from core.environment import child_environment
from core.errors import Unavailable
from core.private_files import end_of_log, open_log
from core.retry import SYSTEM_CLOCK, Backoff, Clock, Retry

log = logging.getLogger(__name__)

RESTARTS = Backoff(first_s=0.5, longest_s=15.0)


def free_port(host: str = "127.0.0.1") -> int:
    """Return a TCP port that is free at the moment."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


class Child:
    """One program that runs as a child process.

    Without `env` it gets `child_environment()`. Its output is appended to `log_file`; with None, it shares this
    process's output. It runs in a session of its own, so that Ctrl-C reaches only this process, which then stops its
    children in order.
    """

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        log_file: Path | None = None,
    ) -> None:
        self.name = name
        self._argv = list(argv)
        self._env = child_environment() if env is None else dict(env)
        self._log_file = log_file
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """Return the process id, or None before the first start."""
        return self._process.pid if self._process else None

    @property
    def running(self) -> bool:
        """Tell whether the program is running."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Start the program. Raises OSError if the Python interpreter that launches it can't be started."""
        output = None if self._log_file is None else open_log(self._log_file)
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-S",
                str(tether.__file__),
                str(os.getpid()),
                *self._argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self._env,
                start_new_session=True,
            )
        finally:
            if output is not None:
                output.close()

    async def wait(self) -> int:
        """Wait until the program ends and return its exit code, which is negative if a signal ended it."""
        if self._process is None:
            raise RuntimeError(f"{self.name} was not started")
        return await self._process.wait()

    async def stop(self, grace_s: float = 10.0) -> None:
        """Ask the program to end, and kill it after `grace_s` seconds. Safe to call twice."""
        if not self.running or self._process is None:
            return
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(grace_s):
                await self._process.wait()
        except TimeoutError:
            log.warning("%s did not end within %.0f s; killing it", self.name, grace_s)
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    def tail(self, lines: int = 5) -> str:
        """Return the last lines of the program's log, for use in error messages."""
        return "" if self._log_file is None else "\n".join(end_of_log(self._log_file).splitlines()[-lines:])

    async def wait_until_ready(
        self, ready: Callable[[], Awaitable[bool]], timeout_s: float, every_s: float = 0.05
    ) -> None:
        """Poll `ready` until it returns True. Raises Unavailable if the program ends first or time runs out."""
        deadline = time.monotonic() + timeout_s
        while not await ready():
            if not self.running:
                code = self._process.returncode if self._process else None
                raise Unavailable(f"{self.name} ended with exit code {code} before it was ready.\n{self.tail()}")
            if time.monotonic() > deadline:
                raise Unavailable(f"{self.name} was not ready after {timeout_s:.0f} s.\n{self.tail()}")
            await asyncio.sleep(every_s)


async def keep_running(
    start: Callable[[], Awaitable[Child]], backoff: Backoff = RESTARTS, clock: Clock = SYSTEM_CLOCK
) -> None:
    """Restart a child whenever it ends, with longer waits while it keeps failing; run until cancelled.

    `start` must return a child that is started and ready. A run that lasts longer than the longest wait counts as a
    success. On cancellation the child is stopped.
    """
    retry = Retry(backoff, clock)
    while True:
        child: Child | None = None
        began = clock.monotonic()
        try:
            child = await start()
            code = await child.wait()
            log.warning("%s ended with exit code %s; starting it again", child.name, code)
        except (Unavailable, OSError) as error:
            log.warning("%s", error)
        finally:
            if child is not None:
                await child.stop()
        retry.note_run(clock.monotonic() - began)
        await retry.wait()
