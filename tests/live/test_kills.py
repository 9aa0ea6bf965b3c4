"""Kill what can be killed: nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(600)]

Start = Callable[..., Awaitable[Any]]
Wait = Callable[..., Awaitable[None]]


def posts(count: int, prefix: str = "") -> list[dict[str, Any]]:
    claims = (
        "Women have no business in parliament.",
        "Refugees have no rights here, send them back.",
        "Disabled children should be kept out of normal schools.",
    )
    return [
        {"platform": "birdsong", "post_id": f"{prefix}{number}", "text": f"{claims[number % 3]} Reason {number}."}
        for number in range(count)
    ]


def assert_one_draft_each(cases: list[dict[str, Any]], count: int) -> None:
    assert len(cases) == count
    assert {case["state"] for case in cases} <= {"pending", "dismissed", "escalated"}
    assert all(len(case["drafts"]) == 1 for case in cases if case["state"] == "pending")


async def some_done(demo: Any, at_least: int) -> bool:
    counts = await demo.counts()
    return bool(sum(counts.get(state, 0) for state in ("pending", "dismissed", "escalated")) >= at_least)


async def kill_worker(demo: Any) -> None:
    os.kill(demo.pid_of("worker --stages"), signal.SIGKILL)


async def test_a_worker_killed_three_times_during_300_posts_loses_and_doubles_nothing(
    start_demo: Start, wait_until: Wait
) -> None:
    demo = await start_demo("--chat-model", "none", "--no-samples")
    await demo.send(posts(300))
    for done in (30, 120, 210):

        async def reached(done: int = done) -> bool:
            return await some_done(demo, done)

        await wait_until(reached, 90, 0.05)
        await kill_worker(demo)
    assert_one_draft_each(await demo.settled(300, within_s=180), 300)


async def test_the_broker_away_for_ten_seconds(start_demo: Start, wait_until: Wait) -> None:
    demo = await start_demo("--chat-model", "none", "--no-samples", REJOINDER_DESK__UNDO_S="0.5")
    await demo.send(posts(100))

    async def begun() -> bool:
        return await some_done(demo, 20)

    await wait_until(begun, 90, 0.05)
    broker = demo.pid_of("tansu")
    os.kill(broker, signal.SIGSTOP)
    approved = [case for case in await demo.cases("pending") if case["draft"]][:10]
    for case in approved:
        status, _ = await demo.decide(case["key"], action="approve", version=case["version"])
        assert status == 200, "moderators go on while the broker is away"
    status, answer = await demo.post("/v1/flags", posts(1, "away-")[0])
    assert status == 503, answer
    os.kill(broker, signal.SIGCONT)

    async def released() -> bool:
        return bool(len(await demo.cases("released")) == len(approved))

    await wait_until(released, 90)
    replies = await demo.replies()
    assert sorted(reply["case_key"] for reply in replies) == sorted(case["key"] for case in approved)
    await demo.settled(100, within_s=180)


async def test_a_killed_broker_forgets_its_topics_and_every_case_still_arrives(
    start_demo: Start, wait_until: Wait
) -> None:
    demo = await start_demo("--chat-model", "none", "--no-samples")
    await demo.send(posts(200))

    async def known() -> bool:
        return bool(sum((await demo.counts()).values()) == 200)

    await wait_until(known, 90, 0.05)
    os.kill(demo.pid_of("tansu"), signal.SIGKILL)
    assert_one_draft_each(await demo.settled(200, within_s=180), 200)


async def test_a_model_server_killed_mid_draft_comes_back_and_every_case_gets_one_draft(
    start_demo: Start, wait_until: Wait, smollm2: Path
) -> None:
    # Short drafts: what is tested is the kill, and on two busy cores long ones took longer than anyone waits.
    short = {"REJOINDER_CHAT__CANDIDATES": "1", "REJOINDER_CHAT__MAX_TOKENS": "40"}
    demo = await start_demo("--chat-model", "smollm2-135m", "--no-samples", **short)
    await demo.send(posts(12))

    async def drafting() -> bool:
        counts = await demo.counts()
        return bool(counts.get("grounded")) and bool(counts.get("pending"))

    await wait_until(drafting, 120, 0.05)
    os.kill(demo.pid_of("xllamacpp_server"), signal.SIGKILL)
    assert_one_draft_each(await demo.settled(12, within_s=240), 12)


async def test_two_hundred_times_two_moderators_at_once(start_demo: Start, wait_until: Wait) -> None:
    demo = await start_demo("--chat-model", "none", "--no-samples", REJOINDER_DESK__UNDO_S="1")
    await demo.send(posts(200))
    cases = await demo.settled(200, within_s=180)
    pending = [case for case in cases if case["state"] == "pending" and case["drafts"][-1]["text"]]
    assert len(pending) > 150

    async def race(case: dict[str, Any]) -> tuple[int, int]:
        (yes, _), (no, _) = await asyncio.gather(
            demo.decide(case["key"], action="approve", version=case["version"]),
            demo.decide(case["key"], action="reject", version=case["version"], reason="off topic"),
        )
        return yes, no

    outcomes = [await race(case) for case in pending]
    assert all(sorted(pair) == [200, 409] for pair in outcomes)
    wins = sum(yes == 200 for yes, _ in outcomes)

    async def released() -> bool:
        return len(await demo.cases("released")) == wins

    await wait_until(released, 60)
    keys = [reply["case_key"] for reply in await demo.replies()]
    assert len(keys) == len(set(keys)) == wins


async def test_a_worker_without_work_is_alive_and_left_alone(start_demo: Start, wait_until: Wait) -> None:
    demo = await start_demo("--chat-model", "none", "--no-samples", REJOINDER_STREAM__IDLE_LIMIT_S="6")
    await demo.send(posts(1))
    await demo.settled(1, within_s=60)
    worker = demo.pid_of("worker --stages")
    # Nothing can be awaited here: the point is that nothing happens for longer than the limit.
    await asyncio.sleep(15)
    assert demo.pid_of("worker --stages") == worker
