"""The whole path as a user walks it: from a sample post to an approved reply on `replies`."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

DEMO_FLAGS = ("--chat-model", "none")
DEMO_ENV = {"REJOINDER_DESK__UNDO_S": "1"}
MANY = 150
"""Posts that keep a worker busy well beyond the moment at which it is ended."""
FINAL = {"pending", "dismissed", "escalated"}
Start = Callable[..., Awaitable[Any]]


def first_draft(cases: list[dict[str, Any]]) -> dict[str, Any]:
    return next(case for case in cases if case["state"] == "pending" and case["drafts"][-1]["text"])


async def test_samples_become_drafts_and_an_approved_one_arrives_once_exactly(
    demo: Any, wait_until: Callable[..., Awaitable[None]]
) -> None:
    cases = await demo.settled(27, within_s=240)
    assert {case["state"] for case in cases} <= FINAL
    assert sum(case["state"] == "pending" for case in cases) >= 20
    case = first_draft(cases)
    draft = case["drafts"][-1]
    assert all(check["passed"] for check in draft["checks"] if check["hard"])
    assert case["grounding"]["evidence"][0]["source"]["url"].startswith("https://")

    key, version = case["key"], case["version"]
    status, approved = await demo.decide(key, action="approve", version=version)
    assert status == 200 and approved["state"] == "approved"
    status, stale = await demo.decide(key, action="reject", version=version, reason="off topic")
    assert status == 409 and stale["case"]["state"] == "approved"

    async def released() -> bool:
        return bool((await demo.get(f"/v1/cases/{key}"))["state"] == "released")

    await wait_until(released, 120)
    assert [(reply["case_key"], reply["text"]) for reply in await demo.replies()] == [(key, draft["text"])]


async def test_ctrl_c_leaves_no_process_and_the_next_start_goes_on(start_demo: Start, tmp_path: Path) -> None:
    demo = await start_demo("--chat-model", "none", "--no-samples")
    posts = [
        {
            "platform": "birdsong",
            "post_id": str(number),
            "text": f"Women have no business in parliament, reason {number}.",
        }
        for number in range(MANY)
    ]
    await demo.send(posts)
    family = demo.family()
    assert len(family) >= 2
    assert await demo.stop(signal.SIGINT) == 0
    assert not [pid for pid in family if Path(f"/proc/{pid}/cmdline").exists() and _alive(pid)]

    again = await start_demo("--chat-model", "none", "--no-samples")
    cases = await again.settled(MANY, within_s=400)
    assert len(cases) == MANY
    assert all(len(case["drafts"]) <= 1 for case in cases)


@pytest.mark.slow
async def test_a_killed_demo_leaves_no_process_either(
    start_demo: Start, wait_until: Callable[..., Awaitable[None]]
) -> None:
    demo = await start_demo("--chat-model", "none", "--no-samples")

    async def complete() -> bool:
        return len(demo.family()) >= 2

    await wait_until(complete, 120)
    family = demo.family()
    await demo.stop(signal.SIGKILL)

    async def gone() -> bool:
        return not any(_alive(pid) for pid in family)

    await wait_until(gone, 60)


async def test_the_port_in_use_and_the_data_folder_in_use_are_clear_errors(demo: Any, tmp_path: Path) -> None:
    port = demo.url.rsplit(":", 1)[1]

    async def fails(*flags: str) -> str:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "rejoinder.cli", "demo", "--chat-model", "none", *flags,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        _, errors = await asyncio.wait_for(process.communicate(), 180)
        assert process.returncode == 1
        return errors.decode()

    taken = await fails("--port", port, "--data-dir", str(tmp_path / "other"))
    assert f"Port {port}" in taken and "--port" in taken and "Traceback" not in taken
    held = await fails("--port", "0", "--data-dir", str(demo.data))
    assert "--data-dir" in held and "Traceback" not in held


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
