"""Run stages as a Faust worker until told to stop, or until the worker crashes or hangs."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

from core.errors import BrokerUnavailable
from core.lifecycle import STAGES, TopicRole
from core.settings import KafkaSettings, Settings
from stream import metrics
from stream.app import build_app
from stream.dead_letters import DeadLetterWriter
from stream.health import WorkerHealth
from stream.in_hand import InHand
from stream.liveness import Liveness
from stream.stages import Stage
from stream.topic_reader import backlog
from stream.topics import Topics, ensure_topics, worker_group

log = logging.getLogger(__name__)

STOP_LIMIT_S = 15.0
SWITCH_INTERVAL_S = 0.0005
"""How long a thread may hold the interpreter: a stage switches threads a dozen times, and Python's 5 ms would add
up."""

PATIENCE = 10
"""How many of a model's longest answers one message may need, or wait for."""


class WorkerDied(Exception):
    """A worker that must be restarted; the message gives the cause."""


async def run_worker(
    settings: Settings,
    stages: Sequence[Stage],
    dead_letters: DeadLetterWriter,
    stop: asyncio.Event,
    health: WorkerHealth | None = None,
) -> None:
    """Work until `stop` is set, keeping `health` up to date. Raises WorkerDied if Faust crashed or fell silent."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    await wait_for_topics(settings.kafka, stop, _topics_of(stages))
    if stop.is_set():
        return
    liveness = Liveness(settings.stream.idle_limit_s, longest_work_s=longest_work_s(settings))
    metrics.WORKING.set_function(liveness.work_s)
    in_hand = InHand(settings.data_dir / "in-hand", settings.stream.attempts, liveness)
    app = build_app(settings, stages, dead_letters, liveness, in_hand)
    names = [Topics(settings.kafka.prefix).named(STAGES[stage.name].reads) for stage in stages]
    tasks: dict[str, asyncio.Task[Any]] = {
        "stop": asyncio.create_task(stop.wait()),
        "faust": asyncio.create_task(_run_faust(app, health)),
        "liveness": asyncio.create_task(
            liveness.watch(lambda: idle(app, settings.kafka, names), settings.stream.idle_limit_s / 6)
        ),
    }
    try:
        await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_COMPLETED)
        if not tasks["stop"].done():
            raise WorkerDied(_cause(tasks["faust"]))
    finally:
        for task in tasks.values():
            task.cancel()
        with suppress(TimeoutError):
            # Shielded, because a hanging app may not respond to cancellation either.
            async with asyncio.timeout(STOP_LIMIT_S):
                await asyncio.shield(app.stop())
        in_hand.close()


def _topics_of(stages: Sequence[Stage]) -> set[TopicRole]:
    specs = [STAGES[stage.name] for stage in stages]
    written = {spec.writes for spec in specs if spec.writes is not None}
    return {TopicRole.DEAD_LETTERS, *(spec.reads for spec in specs), *written}


async def wait_for_topics(
    kafka: KafkaSettings, stop: asyncio.Event, needed: Collection[TopicRole], every_s: float = 1.0
) -> None:
    """Wait until the broker has the topics or `stop` is set. Raises BadSettings if it refuses to create one."""
    while not stop.is_set():
        try:
            await ensure_topics(kafka, needed)
            return
        except BrokerUnavailable as error:
            log.warning("waiting for the broker: %s", error)
        with suppress(TimeoutError):
            async with asyncio.timeout(every_s):
                await stop.wait()


async def _run_faust(app: Any, health: WorkerHealth | None) -> None:
    await app.start()
    if health is not None:
        health.assignment = app.consumer.assignment
    log.info("worker is ready")
    await app.wait_until_stopped()


def _cause(faust: asyncio.Task[Any]) -> str:
    if faust.done():
        error = faust.exception()
        return f"Faust stopped by itself ({error!r})." if error else "Faust stopped by itself."
    return "The worker saw neither an event nor a successful poll, or worked on one message, for too long."


def longest_work_s(settings: Settings) -> float:
    """Return the longest time one message may take, in seconds: several answers, queued behind all other partitions."""
    longest_s = max(settings.chat.timeout_s, settings.draft.timeout_s, settings.guard.judge_timeout_s)
    return PATIENCE * settings.kafka.partitions * longest_s


async def idle(app: Any, kafka: KafkaSettings, topics: Sequence[str]) -> bool:
    """Tell whether the broker answers and no message waits in the partitions assigned to this worker."""
    try:
        assigned = {(place.topic, place.partition) for place in app.consumer.assignment()}
        waiting = await backlog(kafka, worker_group(kafka), topics)
    except BrokerUnavailable as error:
        log.warning("liveness probe failed: %s", error)
        return False
    return not any(count > 0 for place, count in waiting.items() if not assigned or place in assigned)
