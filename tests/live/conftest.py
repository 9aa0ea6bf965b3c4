"""Start `rejoinder demo` as a user would, and talk to it over HTTP and Kafka."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from core.settings import KafkaSettings
from stream.producer import Producer
from stream.topic_reader import read_topic
from stream.topics import Topics

TOKEN = "a-token-for-tests"
REPO = Path(__file__).parents[2]


class Demo:
    """Be a running demo."""

    def __init__(self, process: asyncio.subprocess.Process, url: str, bootstrap: str, data: Path) -> None:
        self.process = process
        self.url = url
        self.data = data
        self.kafka = KafkaSettings(bootstrap=bootstrap)
        self.topics = Topics(self.kafka.prefix)
        self._http = aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"})

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
        found: list[dict[str, Any]] = []
        query = {"limit": "200"} | ({"state": state} if state else {})
        while True:
            page = await self.get("/v1/cases", **query)
            found += page["cases"]
            if not page.get("next_cursor"):
                return found
            query["cursor"] = page["next_cursor"]

    async def settled(self, count: int, within_s: float) -> list[dict[str, Any]]:
        """Wait until `count` cases are known and the machine owes none of them a step; return them."""
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
        """Put flags on the topic, as a platform would."""
        async with Producer(self.kafka) as producer:
            messages = [(f"{post['platform']}/{post['post_id']}", json.dumps(post).encode()) for post in posts]
            await producer.send_all(self.topics.flags, messages)

    async def replies(self) -> list[dict[str, Any]]:
        """Return what is on `replies`."""
        return [json.loads(record.value) async for record in read_topic(self.kafka, self.topics.replies)]

    def pid_of(self, what: str) -> int:
        """Return the process id of the family member whose command line has `what` in it."""
        [found] = [pid for pid, line in self.family().items() if what in line]
        return found

    def family(self) -> dict[int, str]:
        """Return process id -> command line of the demo's living descendants."""
        return descendants(self.process.pid)

    async def stop(self, how: int = signal.SIGINT) -> int:
        """End the demo and return its exit code."""
        await self._http.close()
        if self.process.returncode is None:
            self.process.send_signal(how)
        return await asyncio.wait_for(self.process.wait(), 60)


def descendants(root: int) -> dict[int, str]:
    """Return process id -> command line of every living process below `root`."""
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
    found: dict[int, str] = {}
    new = [root]
    while new:
        new = [pid for pid, parent in parents.items() if parent in new]
        found |= {pid: lines[pid] for pid in new}
    return found


async def until(done: Callable[[], Awaitable[bool]], within_s: float, every_s: float = 0.2) -> None:
    """Wait until `done` says so; fails the test when time runs out."""
    try:
        async with asyncio.timeout(within_s):
            while not await done():
                await asyncio.sleep(every_s)
    except TimeoutError:
        pytest.fail(f"not done within {within_s:.0f} s")


@asynccontextmanager
async def running_demo(data: Path, *flags: str, **env: str) -> AsyncIterator[Demo]:
    """Start a demo on a free port and wait for its page."""
    argv = [sys.executable, "-m", "rejoinder.cli", "demo", "--port", "0", "--data-dir", str(data), "--token", TOKEN]
    process = await asyncio.create_subprocess_exec(
        *argv, *flags, stdout=asyncio.subprocess.PIPE, env={**os.environ, **env}, cwd=REPO
    )
    assert process.stdout is not None
    text = ""
    async with asyncio.timeout(60):
        while "Ctrl-C" not in text:
            line = (await process.stdout.readline()).decode()
            assert line, f"the demo ended before its page was there:\n{text}"
            text += line
    url = re.search(r"The desk:\s+(http://\S+?)/#token=", text)
    bootstrap = re.search(r"Kafka:\s+(\S+)", text)
    assert url and bootstrap, text
    demo = Demo(process, url[1], bootstrap[1], data)
    try:
        yield demo
    finally:
        await demo.stop()


StartDemo = Callable[..., Awaitable[Demo]]


@pytest.fixture
async def start_demo(tmp_path: Path) -> AsyncIterator[StartDemo]:
    """Give a function that starts a demo; all are ended with the test."""
    async with AsyncExitStack() as stack:

        async def start(*flags: str, data: Path = tmp_path / "data", **env: str) -> Demo:
            return await stack.enter_async_context(running_demo(data, *flags, **env))

        yield start


@pytest.fixture
def wait_until() -> Callable[..., Awaitable[None]]:
    """Give the function that waits for something another process does."""
    return until


@pytest.fixture
def real_posts() -> list[dict[str, Any]]:
    """Give the real flagged posts kept beside the repository."""
    path = REPO.parent / "shared" / "data" / "flags" / "real_posts.jsonl"
    if not path.exists():
        pytest.skip("the real posts (../shared/data/flags/real_posts.jsonl) are not here")
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="session")
def smollm2() -> None:
    """Make sure that the small model's weights are here; skips when they can't be fetched."""
    from core.errors import WeightsError
    from core.settings import Settings
    from models import catalog, weights

    settings = Settings()
    try:
        asyncio.run(weights.pull(catalog.find("smollm2-135m"), settings.weights_dir, "auto", lambda *_: None))
    except WeightsError as error:
        pytest.skip(f"the weights of smollm2-135m can't be fetched: {error}")
