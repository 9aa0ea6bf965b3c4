"""Compare strategies on one model server: drafts a minute, seconds to the first draft, and tokens per draft.

Each post is grounded by the strategy that drafts for it, so what a strategy plans counts, in seconds and in tokens.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp

from core.domain import DraftRequest, Evidence, FlaggedPost, Grounding, Origin, StrategyName, Triage
from core.errors import BadSettings
from core.lifecycle import goes_on
from core.settings import ChatSettings, DraftSettings, PlainSettings, Settings
from evaluation.bench.speed import load_posts
from kb.summaries import is_short
from models.chat import ChatClient, ChatModel, Completion, Message
from models.llama_server import LlamaServer
from pipeline.draft import Drafter
from pipeline.ground import Grounder
from rejoinder.assembly import open_claims, open_embedder, open_pipeline, open_searcher, open_strategies
from rejoinder.chat_assembly import chat_weights
from rejoinder.commands.process import load_settings
from rejoinder.guard_assembly import open_drafting_guard

_COUNTER = re.compile(r"^llamacpp:(\w+_total) (\S+)$", re.MULTILINE)
PARAGRAPH = 4
"""Statements of evidence that are joined into one paragraph, like those that the papers' pipelines summarise."""


@dataclass(frozen=True)
class Way:
    """One row of the table: a strategy, and how many posts it drafts for at once."""

    name: str
    strategy: StrategyName
    at_once: int


SEQUENTIAL = Way("papers: 3 summaries, 1 reply, one request at a time", StrategyName.PLAIN, 1)


@dataclass(frozen=True)
class Cost:
    """What a strategy took for a queue of posts.

    `evaluated` and `written` are tokens per draft, by the server's counters; `load` is the machine's one-minute load.
    `busy_s` are the seconds in which the server had a request to work on.
    """

    way: Way
    slots: int
    drafts: int
    by_model: int
    seconds: float
    first_s: float
    evaluated: float
    written: float
    busy_s: float
    load: float

    @property
    def a_minute(self) -> float:
        """Return drafts a minute, including those that the composer wrote."""
        return 60 * self.drafts / self.seconds

    @property
    def busy(self) -> float:
        """Return the share of the time in which the server had a request to work on."""
        return self.busy_s / self.seconds


class OneByOne:
    """A ChatModel that sends one request at a time, as the papers' pipelines do."""

    def __init__(self, chat: ChatModel) -> None:
        self.model = chat.model
        self._chat = chat
        self._turn = asyncio.Lock()

    async def complete(self, messages: Sequence[Message], **asked: Any) -> list[Completion]:
        """Wait for earlier requests to finish, then send this one."""
        async with self._turn:
            return await self._chat.complete(messages, **asked)


class Timed:
    """A ChatModel that counts the seconds in which at least one request is under way, as `busy_s`."""

    def __init__(self, chat: ChatModel, clock: Callable[[], float] = time.perf_counter) -> None:
        self.model = chat.model
        self.busy_s = 0.0
        self._chat, self._clock = chat, clock
        self._under_way, self._since = 0, 0.0

    async def complete(self, messages: Sequence[Message], **asked: Any) -> list[Completion]:
        """Send the request; time that requests share counts once."""
        if not self._under_way:
            self._since = self._clock()
        self._under_way += 1
        try:
            return await self._chat.complete(messages, **asked)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self.busy_s += self._clock() - self._since


@dataclass(frozen=True)
class Queued:
    """A post that waits for a draft, with its triage."""

    post: FlaggedPost
    triage: Triage


@dataclass(frozen=True)
class Parts:
    """What drafts in one way: a grounder and a drafter with that way's strategy, and the model."""

    way: Way
    slots: int
    grounder: Grounder
    drafter: Drafter
    model: Timed

    async def draft(self, queued: Queued) -> Origin:
        """Plan, search and draft for a post as a worker does; return who wrote the draft."""
        grounding = await self.grounder.ground(queued.post, queued.triage, last_attempt=True)
        if self.way is SEQUENTIAL:
            grounding = _as_the_papers(grounding)
        draft = await self.drafter.draft(queued.post, queued.triage, grounding, DraftRequest(), last_attempt=True)
        return draft.origin


def bench_settings(model: str, threads: int, folder: Path) -> Settings:
    """Return settings for a model whose server is as configured, and for everything else the defaults of a bench."""
    chat = load_settings().chat.model_copy(update={"model": model, "threads": threads, "timeout_s": 900.0})
    return Settings(data_dir=folder, chat=_counting(chat), draft=DraftSettings(timeout_s=900))


async def measure(
    count: int,
    settings: Settings,
    names: Sequence[StrategyName],
    slots: Sequence[int] = (),
    at_once: int = 0,
    weights: Path | None = None,
) -> list[Cost]:
    """Measure each way on the same `count` posts, one after the other, with all checks on; the papers' comes first.

    Each number of `slots` gets a server of its own, with `weights` in place of the model's if given. `at_once` posts
    are drafted for at once; if 0, as many as the slots have room for.
    """
    costs: list[Cost] = []
    served = chat_weights(settings)
    if weights:
        served = replace(served, model=weights)
    async with AsyncExitStack() as stack:
        guard = await stack.enter_async_context(open_drafting_guard(settings))
        queue = await _queue(settings, count + 1)
        embedder = await stack.enter_async_context(open_embedder(settings))
        claims = await open_claims(settings, embedder)
        for number in slots or [settings.chat.slots]:
            chat = settings.chat.model_copy(update={"slots": number})
            ways = [Way(name, name, at_once or max(1, number // chat.candidates)) for name in names]
            async with (
                LlamaServer(chat, served, settings.data_dir / f"server-{number}.log") as server,
                ChatClient(server.endpoint, chat.model, None, chat.timeout_s, chat.attempts) as client,
            ):
                for way in ways if costs else [SEQUENTIAL, *ways]:
                    draft = settings.draft.model_copy(update={"strategy": way.strategy})
                    chosen = settings.model_copy(update={"chat": chat, "draft": draft})
                    asking = Timed(OneByOne(client) if way is SEQUENTIAL else client)
                    strategies = open_strategies(chosen, asking)
                    async with open_searcher(chosen, embedder, asking) as searcher:
                        grounder = Grounder(searcher, claims, strategies, chosen.kb)
                        parts = Parts(way, number, grounder, Drafter(strategies, guard), asking)
                        costs.append(await _drafted(parts, queue, server.endpoint))
    return costs


def _counting(chat: ChatSettings) -> ChatSettings:
    """Return the same settings with the server's totals on; raises BadSettings for an engine that has none."""
    if chat.engine == "llama-cpp-python":
        raise BadSettings(
            "The engine llama-cpp-python counts no tokens. Set chat.engine to xllamacpp or llama-server to measure."
        )
    counting = "endpoint_metrics=true" if chat.engine == "xllamacpp" else "--metrics"
    return chat.model_copy(update={"server_args": (*chat.server_args, counting)})


def table(costs: Sequence[Cost]) -> str:
    """Return a Markdown table that also gives each way's drafts a minute as a multiple of the first way's."""
    lines = [
        "| way | slots | drafts/min | × papers | first draft, s | prompt tokens evaluated a draft "
        "| tokens written a draft | by the model | model busy | load |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += (
        f"| {cost.way.name} | {cost.slots} | {cost.a_minute:.1f} | {cost.a_minute / costs[0].a_minute:.1f} "
        f"| {cost.first_s:.1f} | {cost.evaluated:.0f} | {cost.written:.0f} | {cost.by_model}/{cost.drafts} "
        f"| {cost.busy:.0%} | {cost.load:.1f} |"
        for cost in costs
    )
    return "\n".join(lines)


async def _queue(settings: Settings, count: int) -> list[Queued]:
    """Return `count` posts that triage sends on and that have evidence; raises RuntimeError if there are too few."""
    queue: list[Queued] = []
    async with open_pipeline(settings, ("triage", "ground")) as pipeline:
        assert pipeline.triager and pipeline.grounder
        for post in load_posts(20 * count):
            triage = await pipeline.triager.triage(post)
            if not goes_on(triage.route):
                continue
            grounding = await pipeline.grounder.ground(post, triage)
            if grounding.evidence and not grounding.is_unsure:
                queue.append(Queued(post, triage))
            if len(queue) == count:
                return queue
    raise RuntimeError(f"of {20 * count} posts only {len(queue)} get a draft; ask for fewer")


def _as_the_papers(grounding: Grounding) -> Grounding:
    """Return a grounding in long paragraphs, which have to be summarised as in the papers."""
    evidence = grounding.evidence
    paragraphs = [
        _paragraph(evidence[place % len(evidence) :] + evidence) for place in range(PlainSettings().paragraphs)
    ]
    return grounding.model_copy(update={"evidence": tuple(paragraphs)})


def _paragraph(evidence: Sequence[Evidence]) -> Evidence:
    text = " ".join(piece.text for piece in evidence[:PARAGRAPH])
    while is_short(text, evidence[0].language):
        text = f"{text} {text}"
    return evidence[0].model_copy(update={"text": text, "summary": ""})


async def _drafted(parts: Parts, queue: Sequence[Queued], endpoint: str) -> Cost:
    """Draft for the first post unmeasured, so that the server caches the prompt, then measure the others."""
    await parts.draft(queue[0])
    busy_before = parts.model.busy_s
    waiting = iter(queue[1:])
    finished: list[tuple[float, Origin]] = []
    counters = await _counters(endpoint)
    began = time.perf_counter()

    async def work() -> None:
        for queued in waiting:
            origin = await parts.draft(queued)
            finished.append((time.perf_counter() - began, origin))

    await asyncio.gather(*(work() for _ in range(parts.way.at_once)))
    now = await _counters(endpoint)
    drafts = len(finished)
    return Cost(
        way=parts.way,
        slots=parts.slots,
        drafts=drafts,
        by_model=sum(origin is Origin.MODEL for _, origin in finished),
        seconds=finished[-1][0],
        first_s=finished[0][0],
        evaluated=(now["prompt_tokens_total"] - counters["prompt_tokens_total"]) / drafts,
        written=(now["tokens_predicted_total"] - counters["tokens_predicted_total"]) / drafts,
        busy_s=parts.model.busy_s - busy_before,
        load=os.getloadavg()[0],
    )


async def _counters(endpoint: str) -> dict[str, float]:
    """Return the totals that the server counts, among them tokens evaluated and tokens written."""
    async with aiohttp.ClientSession() as http, http.get(endpoint.removesuffix("/v1") + "/metrics") as answer:
        return {name: float(value) for name, value in _COUNTER.findall(await answer.text())}
