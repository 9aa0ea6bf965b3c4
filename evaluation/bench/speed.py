"""Measure speed: stream throughput and its ratio to the bare pipeline's, start-up, memory, and embedders."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from core.domain import CaseState, DraftRequest, FlaggedPost
from core.lifecycle import UNFINISHED, goes_on
from core.settings import NO_MODEL, ChatSettings, KafkaSettings, Settings, TriageSettings
from evaluation.bench.embedding_speed import ms_a_token
from evaluation.load_texts import CLAIMS, load_text
from ledger import Ledger
from rejoinder.assembly import open_pipeline
from stream.producer import Producer
from stream.topics import Topics

TOKEN = "a-token-for-the-bench"
WARM_UP = 40


async def measure(count: int, model: str, reread: bool) -> list[tuple[str, str]]:
    """Return the rows of the table: what was measured, and its value.

    `reread` says whether the larger model, whose weights have to be here, reads posts again in both runs.
    """
    folder = Path(tempfile.mkdtemp(prefix="rejoinder-bench-"))
    posts = load_posts(count)
    try:
        direct = await pipeline_rate(posts, folder / "direct", reread)
        streamed, page_s, memory_mb = await stream_rate(posts, folder / "stream", reread)
        again_s = await page_start(folder / "stream", reread)
        costs = await ms_a_token([post.text for post in posts])
        rows = [
            *((f"embedder {kind}, one thread, ms a token", f"{cost:.2f}") for kind, cost in costs.items()),
            ("posts in the runs", f"{count}"),
            ("a larger model reads posts again", "yes" if reread else "no"),
            ("pipeline called directly, posts/s", f"{direct:.1f}"),
            ("from Kafka to a pending draft, posts/s", f"{streamed:.1f}"),
            ("ratio of the two", f"{streamed / direct:.2f}"),
            ("page of a first start, s", f"{page_s:.1f}"),
            ("page of a second start, s", f"{again_s:.1f}"),
            ("worker memory (RSS), MB", f"{memory_mb:.0f}"),
        ]
        if model != NO_MODEL:
            rows.append(
                (
                    f"first draft with {model}, s after the start",
                    f"{await first_draft(folder / 'model', model, reread):.1f}",
                )
            )
        return rows
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def load_posts(count: int) -> list[FlaggedPost]:
    """Return real posts if their file lies beside the repository, made-up ones otherwise."""
    path = Path(__file__).parents[3] / "shared" / "data" / "flags" / "real_posts.jsonl"
    if path.exists():
        return [FlaggedPost.model_validate_json(line) for line in path.read_text().splitlines()[:count]]
    return [FlaggedPost(platform="birdsong", post_id=str(number), text=load_text(number)) for number in range(count)]


async def pipeline_rate(posts: list[FlaggedPost], folder: Path, reread: bool) -> float:
    """Return posts a second through triage, ground and draft, called directly by four concurrent tasks."""
    triage = TriageSettings(reread=reread)
    settings = Settings(data_dir=folder, chat=ChatSettings(model=NO_MODEL), triage=triage)
    async with open_pipeline(settings) as pipeline:
        triager, grounder, drafter = pipeline.triager, pipeline.grounder, pipeline.drafter
        assert triager and grounder and drafter

        async def answer(share: list[FlaggedPost]) -> None:
            for post in share:
                triage = await triager.triage(post)
                if goes_on(triage.route):
                    await drafter.draft(post, triage, await grounder.ground(post, triage), DraftRequest())

        await answer(posts[:WARM_UP])
        began = time.perf_counter()
        await asyncio.gather(*(answer(posts[start::4]) for start in range(4)))
        return len(posts) / (time.perf_counter() - began)


@asynccontextmanager
async def demo(
    folder: Path, *flags: str, reread: bool
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str, str, float]]:
    """Run the demo; yields its process, its page's URL, its broker's address, and seconds until the page answers."""
    environment = {**os.environ, "REJOINDER_TRIAGE__REREAD": str(reread)}
    argv = ["-m", "rejoinder.cli", "demo", "--port", "0", "--data-dir", str(folder), "--token", TOKEN, *flags]
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        sys.executable, *argv, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout
    text = ""
    while "Ctrl-C" not in text and (line := await process.stdout.readline()):
        text += line.decode()
    page, broker = re.search(r"(http://\S+?)/#", text), re.search(r"Kafka:\s+(\S+)", text)
    assert page and broker, f"the demo did not start:\n{text}"
    async with aiohttp.ClientSession() as http, http.get(page[1]) as answer:
        assert answer.status == 200
    try:
        yield process, page[1], broker[1], time.perf_counter() - began
    finally:
        process.terminate()
        await process.wait()


async def stream_rate(posts: list[FlaggedPost], folder: Path, reread: bool) -> tuple[float, float, float]:
    """Return posts a second from Kafka to the desk with a warm worker, seconds to the first page, and worker MB."""
    async with demo(folder, "--chat-model", "none", "--no-samples", reread=reread) as (process, _, broker, page_s):
        ledger = await Ledger.open(f"sqlite+aiosqlite:///{folder / 'ledger.db'}", b"the bench only reads")
        warm = [
            FlaggedPost(platform="warm", post_id=str(number), text=CLAIMS[number % len(CLAIMS)])
            for number in range(WARM_UP)
        ]
        await send(warm, broker)
        await settled(ledger, len(warm))
        began = time.perf_counter()
        await send(posts, broker)
        await settled(ledger, len(warm) + len(posts))
        seconds = time.perf_counter() - began
        await ledger.close()
        return len(posts) / seconds, page_s, worker_memory_mb(process.pid)


async def page_start(folder: Path, reread: bool) -> float:
    """Return the seconds until the page answers when the demo starts again."""
    async with demo(folder, "--chat-model", "none", "--no-samples", reread=reread) as (*_, page_s):
        return page_s


async def first_draft(folder: Path, model: str, reread: bool) -> float:
    """Return the seconds from the demo's start until the first sample post is pending with a draft."""
    began = time.perf_counter()
    async with demo(folder, "--chat-model", model, reread=reread):
        ledger = await Ledger.open(f"sqlite+aiosqlite:///{folder / 'ledger.db'}", b"the bench only reads")
        while not (await ledger.cases.counts()).get(CaseState.PENDING):
            await asyncio.sleep(0.1)
        await ledger.close()
        return time.perf_counter() - began


async def send(posts: list[FlaggedPost], broker: str) -> None:
    """Send posts to the flags topic."""
    kafka = KafkaSettings(bootstrap=broker)
    async with Producer(kafka) as producer:
        messages = [(post.key, json.dumps(post.model_dump(mode="json", exclude_none=True)).encode()) for post in posts]
        await producer.send_all(Topics(kafka.prefix).flags, messages)


async def settled(ledger: Ledger, count: int) -> None:
    """Wait until `count` cases have reached a state in which no worker has a step left to do."""
    while True:
        counts: dict[CaseState, Any] = await ledger.cases.counts()
        if sum(number for state, number in counts.items() if state not in UNFINISHED) >= count:
            return
        await asyncio.sleep(0.1)


def worker_memory_mb(parent: int) -> float:
    """Return the resident memory of the demo's worker, a child of `parent`; raises RuntimeError if there is none."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            status = dict(part.split(":", 1) for part in (folder / "status").read_text().splitlines())
        except (FileNotFoundError, ProcessLookupError):
            continue
        if "worker --stages" in line and int(status["PPid"]) == parent:
            return int(status["VmRSS"].split()[0]) / 1000
    raise RuntimeError("the worker was not found")
