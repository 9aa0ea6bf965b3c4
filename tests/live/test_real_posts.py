"""A thousand real posts, without a language model; fifty with a small one."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]

VISIBLE = {"pending", "dismissed", "escalated"}
Start = Callable[..., Awaitable[Any]]


async def ingest(demo: Any) -> str:
    """Run `rejoinder ingest` on the real posts, as a user would."""
    path = Path(__file__).parents[3] / "shared" / "data" / "flags" / "real_posts.jsonl"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rejoinder.cli", "ingest", str(path), "--bootstrap", demo.kafka.bootstrap,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    output, _ = await process.communicate()
    assert process.returncode == 0
    return output.decode()


def failed_checks(case: dict[str, Any]) -> list[str]:
    """Return the hard checks that the newest draft of a case fails, if it shows a text."""
    draft = case["drafts"][-1]
    return (
        [check["name"] for check in draft["checks"] if check["hard"] and not check["passed"]] if draft["text"] else []
    )


async def test_a_thousand_real_posts_end_in_one_visible_state_each_and_twice_is_once(
    start_demo: Start, real_posts: list[dict[str, Any]]
) -> None:
    demo = await start_demo("--chat-model", "none", "--no-samples")
    assert "1,000 posts sent" in await ingest(demo)
    cases = await demo.settled(1000, within_s=300)
    keys = [case["key"] for case in cases]
    assert sorted(keys) == sorted(f"{post['platform']}/{post['post_id']}" for post in real_posts)
    assert {case["state"] for case in cases} <= VISIBLE, Counter(case["state"] for case in cases)
    pending = [case for case in cases if case["state"] == "pending"]
    assert not [names for case in pending if (names := failed_checks(case))]
    before = {key: (case["version"], len(case["drafts"])) for key, case in zip(keys, cases, strict=True)}

    await ingest(demo)
    marker = {"platform": "birdsong", "post_id": "last", "text": "Women have no business in parliament."}
    await demo.send([marker] * 1)
    after = await demo.settled(1001, within_s=300)
    assert len(after) == 1001
    changed = {
        case["key"]: case["version"]
        for case in after
        if before.get(case["key"], (case["version"], len(case["drafts"]))) != (case["version"], len(case["drafts"]))
    }
    assert not changed


async def test_fifty_real_posts_through_a_small_model_show_only_drafts_that_pass(
    start_demo: Start, real_posts: list[dict[str, Any]], smollm2: Path
) -> None:
    few = {"REJOINDER_CHAT__CANDIDATES": "2", "REJOINDER_CHAT__MAX_TOKENS": "80"}
    demo = await start_demo("--chat-model", "smollm2-135m", "--no-samples", **few)
    await demo.send(real_posts[:50])
    cases = await demo.settled(50, within_s=600)
    assert {case["state"] for case in cases} <= VISIBLE
    pending = [case for case in cases if case["state"] == "pending"]
    assert pending
    assert not [names for case in pending if (names := failed_checks(case))]
    assert sum(case["drafts"][-1]["considered"] > 1 for case in pending if case["grounding"]["evidence"]) > 0
