from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from pydantic import SecretStr

from bot.auth import Auth
from bot.changes import Changes
from bot.desk import Desk
from bot.pipeline_cli import PipelineCli
from bot.surroundings import Surroundings
from bot.web.application import add_desk
from core.background import running
from core.domain import Check, now
from core.settings import DeskSettings, Token
from core.tokens import TokenTable
from ledger import Ledger
from pipeline.guard import Guard, GuardContext
from tests.new_ledger import KEY, new_sqlite

TOKENS = {
    "ana": Token(token=SecretStr("ana-secret-token"), role="reviewer"),
    "ben": Token(token=SecretStr("ben-secret-token"), role="reviewer"),
    "lea": Token(token=SecretStr("lea-secret-token"), role="lead"),
    "ada": Token(token=SecretStr("ada-secret-token"), role="admin"),
    "site": Token(token=SecretStr("site-secret-token"), role="platform"),
    "shop": Token(token=SecretStr("shop-secret-token"), role="platform", platforms=("shop",)),
    "probe": Token(token=SecretStr("probe-secret-token"), role="monitor"),
}
Client = TestClient[web.Request, web.Application]


class WordGuard(Guard):
    """A guard that fails a text for one word, so that tests of the desk don't depend on the real guard's English."""

    async def check(self, text: str, context: GuardContext) -> tuple[Check, ...]:
        insults = text.count("forbidden")
        return (
            Check(name="insult", passed=not insults, value=insults, threshold=0, detail="a word" if insults else ""),
            Check(name="length", passed=True, value=len(text), threshold=500),
        )


@dataclass(frozen=True)
class House:
    """A desk and its parts, on a ledger of its own."""

    ledger: Ledger
    desk: Desk
    changes: Changes
    auth: Auth
    guard: Guard
    settings: DeskSettings

    def app(self, surroundings: Surroundings | None = None, pipeline_cli: PipelineCli | None = None) -> web.Application:
        app = web.Application()
        add_desk(app, self.desk, self.ledger, self.changes, self.auth, surroundings, pipeline_cli)
        app.cleanup_ctx.append(self.follow_changes)
        return app

    async def follow_changes(self, _: web.Application) -> AsyncIterator[None]:
        with self.changes.subscribe() as waiting:
            async with running([self.changes.run()]):
                if self.changes.last_id is None:
                    # The feed's first word: it follows from here on.
                    await waiting.next()
                yield


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKENS[name].token.get_secret_value()}"}


@pytest.fixture(name="bearer")
def _bearer() -> Callable[[str], dict[str, str]]:
    return bearer


@asynccontextmanager
async def open_house(folder: Path, clock: Callable[[], datetime] = now, **chosen: Any) -> AsyncIterator[House]:
    """Open a desk on a new ledger in `folder`; `chosen` are the desk's settings."""
    ledger = await Ledger.open(new_sqlite(folder), KEY, clock)
    settings = DeskSettings(tokens=TOKENS, undo_s=20, **chosen)
    guard = WordGuard([])
    changes = Changes(ledger.history, every_s=0.05)
    auth = Auth(TokenTable(TOKENS), ledger.sessions)
    yield House(ledger, Desk(ledger, guard, settings), changes, auth, guard, settings)
    await ledger.close()


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path) as house:
        yield house


@pytest.fixture
async def ledger(house: House) -> Ledger:
    return house.ledger


@pytest.fixture
async def guard(house: House) -> Guard:
    return house.guard


@pytest.fixture
async def desk(house: House) -> Desk:
    return house.desk


@pytest.fixture
async def client(house: House) -> AsyncIterator[Client]:
    async with TestClient(TestServer(house.app())) as client:
        yield client


Post = Callable[..., Awaitable[tuple[int, dict[str, Any]]]]


@pytest.fixture
def decide(client: Client) -> Post:
    """Return a function that sends a decision and returns the status and the JSON."""

    async def send(name: str, key: str, **decision: Any) -> tuple[int, dict[str, Any]]:
        async with client.post(f"/v1/cases/{key}/decision", json=decision, headers=bearer(name)) as response:
            return response.status, await response.json()

    return send
