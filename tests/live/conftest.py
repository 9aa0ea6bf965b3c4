"""Start `rejoinder demo` as a user would, and talk to it over HTTP and Kafka."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import aiohttp
import pytest

from core.settings import KafkaSettings
from stream.producer import Producer
from stream.topic_reader import read_topic
from stream.topics import Topics

TOKEN = "a-token-for-tests"
REPO = Path(__file__).parents[2]
START_S = 180.0
STOP_S = 120.0


@dataclass(frozen=True)
class DemoProcess:
    """A running demo and its addresses; it belongs to no event loop."""

    process: subprocess.Popen[str]
    url: str
    bootstrap: str
    data: Path


def end(process: subprocess.Popen[str], how: int = signal.SIGINT) -> int:
    """End a demo and return its exit code; safe to call twice."""
    if process.poll() is None:
        process.send_signal(how)
    return process.wait(STOP_S)


@contextmanager
def demo_process(data: Path, *flags: str, **env: str) -> Iterator[DemoProcess]:
    """Start a demo on a free port, wait for its page, and end it with the context."""
    argv = [sys.executable, "-m", "rejoinder.cli", "demo", "--port", "0", "--data-dir", str(data), "--token", TOKEN]
    with subprocess.Popen(
        [*argv, *flags], stdout=subprocess.PIPE, text=True, env={**os.environ, **env}, cwd=REPO
    ) as process:
        assert process.stdout is not None
        too_late = Timer(START_S, process.kill)
        too_late.start()
        try:
            text = ""
            for line in process.stdout:
                text += line
                if "Ctrl-C" in line:
                    break
            url = re.search(r"The desk:\s+(http://\S+?)/#token=", text)
            bootstrap = re.search(r"Kafka:\s+(\S+)", text)
            assert url and bootstrap, f"the demo ended before its page was there:\n{text}"
            too_late.cancel()
            # Keep reading its output: if the pipe were full, the demo would block.
            Thread(target=process.stdout.read, daemon=True).start()
            yield DemoProcess(process, url[1], bootstrap[1], data)
        finally:
            too_late.cancel()
            end(process)


class Demo:
    """One test's connections to a running demo."""

    def __init__(self, running: DemoProcess) -> None:
        self.running = running
        self.url = running.url
        self.data = running.data
        self.kafka = KafkaSettings(bootstrap=running.bootstrap)
        self.topics = Topics(self.kafka.prefix)
        self._http = aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"})

    async def close(self) -> None:
        """Close the connections; the demo keeps running."""
        await self._http.close()

    async def get(self, path: str, **query: str) -> Any:
        """Get JSON; anything but 200 fails the test."""
        async with self._http.get(self.url + path, params=query) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()

    async def post(self, path: str, body: Any) -> tuple[int, Any]:
        """Post JSON and return status and answer."""
        async with self._http.post(self.url + path, json=body) as answer:
            return answer.status, await answer.json()

    async def decide(self, key: str, **decision: Any) -> tuple[int, Any]:
        """Decide on a case."""
        return await self.post(f"/v1/cases/{key}/decision", decision)

    async def cases(self, state: str = "") -> list[dict[str, Any]]:
        """Return all cases, or those in a state, page by page, as the queue lists them."""
        cases: list[dict[str, Any]] = []
        query = {"limit": "200"} | ({"state": state} if state else {})
        while True:
            page = await self.get("/v1/cases", **query)
            cases += page["cases"]
            if not page.get("next_cursor"):
                return cases
            query["cursor"] = page["next_cursor"]

    async def settled(self, count: int, within_s: float) -> list[dict[str, Any]]:
        """Wait until there are `count` cases and workers have no step left to do for any; return them."""
        unfinished = {"received", "triaged", "grounded"}

        async def done() -> bool:
            counts = await self.counts()
            return sum(counts.values()) >= count and not any(counts.get(state) for state in unfinished)

        await until(done, within_s)
        return [await self.get(f"/v1/cases/{case['key']}") for case in await self.cases()]

    async def counts(self) -> dict[str, int]:
        """Return how many cases are in each state."""
        counts: dict[str, int] = (await self.get("/v1/cases", limit="1"))["counts"]
        return counts

    async def send(self, posts: Iterable[dict[str, Any]]) -> None:
        """Send flags to the topic, as a platform would."""
        async with Producer(self.kafka) as producer:
            messages = [(f"{post['platform']}/{post['post_id']}", json.dumps(post).encode()) for post in posts]
            await producer.send_all(self.topics.flags, messages)

    async def replies(self, key: str | None = None) -> list[dict[str, Any]]:
        """Return the messages on the topic `replies`, for one case or for all."""
        replies = [json.loads(record.value) async for record in read_topic(self.kafka, self.topics.replies)]
        return [reply for reply in replies if key in (None, reply["case_key"])]

    def pid_of(self, what: str) -> int:
        """Return the process id of the demo's descendant whose command line contains `what`."""
        [pid] = [pid for pid, line in self.family().items() if what in line]
        return pid

    def family(self) -> dict[int, str]:
        """Return the command lines of the demo's living descendants, by process id."""
        return descendants(self.running.process.pid)

    async def stop(self, how: int = signal.SIGINT) -> int:
        """End the demo and return its exit code."""
        await self.close()
        return await asyncio.to_thread(end, self.running.process, how)


def descendants(root: int) -> dict[int, str]:
    """Return the command lines of all living processes below `root`, by process id."""
    parents: dict[int, int] = {}
    lines: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if stat[0] != "Z":
            parents[int(folder.name)] = int(stat[1])
            lines[int(folder.name)] = line
    family: dict[int, str] = {}
    newest = [root]
    while newest:
        newest = [pid for pid, parent in parents.items() if parent in newest]
        family |= {pid: lines[pid] for pid in newest}
    return family


async def until(done: Callable[[], Awaitable[bool]], within_s: float, every_s: float = 0.2) -> None:
    """Wait until `done` returns true; fails the test if time runs out."""
    try:
        async with asyncio.timeout(within_s):
            while not await done():
                await asyncio.sleep(every_s)
    except TimeoutError:
        pytest.fail(f"not done within {within_s:.0f} s")


@asynccontextmanager
async def _talking_to(running: DemoProcess) -> AsyncIterator[Demo]:
    demo = Demo(running)
    try:
        yield demo
    finally:
        await demo.close()


@pytest.fixture(scope="module")
def shared_demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoProcess]:
    """Yield the demo shared by a module whose tests kill nothing, started with its DEMO_FLAGS and DEMO_ENV."""
    flags, env = request.module.DEMO_FLAGS, request.module.DEMO_ENV
    with demo_process(tmp_path_factory.mktemp("demo"), *flags, **env) as running:
        yield running


@pytest.fixture
async def demo(shared_demo: DemoProcess) -> AsyncIterator[Demo]:
    """Yield a connection to the module's demo."""
    async with _talking_to(shared_demo) as demo:
        yield demo


StartDemo = Callable[..., Awaitable[Demo]]


@pytest.fixture
async def start_demo(tmp_path: Path) -> AsyncIterator[StartDemo]:
    """Yield a function that starts demos of the test's own, which it may kill; all of them end with the test."""
    async with AsyncExitStack() as stack:

        async def start(*flags: str, data: Path = tmp_path / "data", **env: str) -> Demo:
            context = demo_process(data, *flags, **env)
            running = await asyncio.to_thread(context.__enter__)
            stack.push_async_callback(asyncio.to_thread, context.__exit__, None, None, None)
            return await stack.enter_async_context(_talking_to(running))

        yield start


@pytest.fixture
def wait_until() -> Callable[..., Awaitable[None]]:
    """Return the function that waits for a condition that depends on another process."""
    return until


@pytest.fixture
def real_posts() -> list[dict[str, Any]]:
    """Return the real flagged posts, which are kept beside the repository."""
    path = REPO.parent / "shared" / "data" / "flags" / "real_posts.jsonl"
    if not path.exists():
        pytest.skip("the real posts (../shared/data/flags/real_posts.jsonl) are not here")
    return [json.loads(line) for line in path.read_text().splitlines()]
