"""Run everything on one machine under one supervisor: broker, chat server, worker, gateway and desk.

Start order: weights, broker, topics, unfinished cases again, page, chat server and worker, samples. Shutdown order
(Ctrl-C or SIGTERM): worker, chat server, page, flags still on the topic saved to the ledger, broker. The broker keeps
its topics in memory; the ledger in the data folder survives, and the next start continues from it.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from importlib.resources import files
from pathlib import Path

from core.background import running
from core.child import Child, keep_running
from core.domain import FlaggedPost, now
from core.environment import DOORS, MODELS, NETWORK, child_environment
from core.errors import BadSettings, Unavailable
from core.lifecycle import StageName
from core.private_files import required_folder
from core.settings import NO_MODEL, Settings
from ledger import Ledger
from rejoinder.assembly import open_ledger, starts_chat_server
from rejoinder.chat_assembly import chat_endpoint
from rejoinder.web import web_process
from stream.broker import EmbeddedBroker
from stream.intake import Intake
from stream.messages import encode
from stream.producer import Producer
from stream.signing import Signatures
from stream.sweeper import Sweeper
from stream.topics import Topics, ensure_topics

log = logging.getLogger(__name__)

Announce = Callable[[int, str], None]
"""Called with the page's port and the broker's address once the page answers."""


class DemoProcesses:
    """The demo's broker and worker, each restarted when it ends."""

    def __init__(self, settings: Settings, ledger: Ledger, producer: Producer, broker: EmbeddedBroker) -> None:
        self._settings = settings
        self._ledger = ledger
        self._producer = producer
        self._broker = broker
        self._worker: Child | None = None
        self._logs = settings.data_dir / "logs"

    async def start_broker(self) -> Child:
        """Start the broker, create its topics, send what it has lost, and make the worker restart."""
        child = await self._broker.start()
        try:
            await ensure_topics(self._settings.kafka)
            resent = await Sweeper(self._ledger, self._producer, self._settings).sweep(now(), topics_are_lost=True)
        except BaseException:
            # Otherwise it would still occupy the port of the next one.
            await child.stop()
            raise
        if resent:
            log.info("%d unfinished cases go on", resent)
        if self._worker is not None:
            await self._worker.stop()
        return child

    async def start_worker(self, endpoint: str | None) -> Child:
        """Start the Faust worker as a child process."""
        workspaces = {
            team: server.model_dump(mode="json", exclude={"bot_token", "bot_token_file"})
            for team, server in self._settings.slack.workspaces.items()
        }
        env = {
            **child_environment("REJOINDER_", *NETWORK, *MODELS, without=DOORS),
            # A worker sends nothing to Slack, but it needs the channels for the intents that are set for them.
            "REJOINDER_SLACK__WORKSPACES": json.dumps(workspaces),
            "REJOINDER_DATA_DIR": str(self._settings.data_dir),
            "REJOINDER_KAFKA__BOOTSTRAP": self._settings.kafka.bootstrap,
            "REJOINDER_KAFKA__SECURITY_PROTOCOL": self._settings.kafka.security_protocol,
            "REJOINDER_KAFKA__SESSION_TIMEOUT_S": str(self._settings.kafka.session_timeout_s),
            "REJOINDER_LEDGER__URL": self._settings.ledger_url,
            "REJOINDER_CHAT__MODEL": self._settings.chat.model,
            "REJOINDER_DRAFT__STRATEGY": self._settings.draft.strategy,
        }
        if endpoint is not None:
            env["REJOINDER_CHAT__ENDPOINT"] = endpoint
        argv = [sys.executable, "-m", "rejoinder.cli", "worker", "--stages", ",".join(StageName)]
        child = Child("the worker", argv, env=env, log_file=self._logs / "worker.log")
        await child.start()
        self._worker = child
        log.info("worker runs, pid %s", child.pid)
        return child

    @asynccontextmanager
    async def broker(self) -> AsyncIterator[None]:
        """Keep the broker running; entering waits for its first start."""
        async with kept_running(self.start_broker):
            yield

    @asynccontextmanager
    async def worker(self, endpoint: str | None) -> AsyncIterator[None]:
        """Keep the worker running."""

        async def start() -> Child:
            return await self.start_worker(endpoint)

        async with kept_running(start):
            yield


@asynccontextmanager
async def kept_running(start: Callable[[], Awaitable[Child]]) -> AsyncIterator[None]:
    """Start a child now, and restart it whenever it ends, during the body."""
    started: list[Child] = [await start()]

    async def next_child() -> Child:
        return started.pop() if started else await start()

    async with running([keep_running(next_child)]):
        yield


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the data folder during the body. Raises BadSettings if another Rejoinder has locked it."""
    required_folder(folder)
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BadSettings(
                f"Another Rejoinder uses {folder}. Stop it, or choose another with --data-dir."
            ) from error
        yield


async def run_demo(settings: Settings, *, samples: bool, announce: Announce, stop: asyncio.Event) -> None:
    """Run the demo until `stop` is set; `announce` is called once the page answers."""
    with locked(settings.data_dir):
        async with AsyncExitStack() as stack:
            broker = EmbeddedBroker(log_file=settings.data_dir / "logs" / "broker.log")
            own = {"bootstrap": broker.bootstrap, "session_timeout_s": 6.0, "security_protocol": "PLAINTEXT"}
            kafka = settings.kafka.model_copy(update=own)
            settings = settings.model_copy(update={"kafka": kafka})
            ledger = await stack.enter_async_context(open_ledger(settings, migrating=True))
            producer = await stack.enter_async_context(Producer(settings.kafka, Signatures.of(settings)))
            processes = DemoProcesses(settings, ledger, producer, broker)
            await stack.enter_async_context(processes.broker())
            stack.push_async_callback(producer.close)
            stack.push_async_callback(drain, ledger, settings)
            web = web_process(
                settings, ledger, producer, gateway=True, desk=True, parts=parts_of(settings, broker.bootstrap)
            )
            port = await stack.enter_async_context(web)
            announce(port, broker.bootstrap)
            endpoint = settings.chat.endpoint
            if starts_chat_server(settings):
                server = chat_endpoint(settings, settings.data_dir / "logs" / "chat-server.log")
                endpoint = await stack.enter_async_context(server)
            await stack.enter_async_context(processes.worker(endpoint))
            if samples:
                await send_samples(producer, settings)
            await stop.wait()
            log.info("ending; the data folder keeps every case")


def parts_of(settings: Settings, bootstrap: str) -> dict[str, str]:
    """Return name -> description of each part of the demo, for people who open its page for the first time."""
    model = None if settings.chat.model == NO_MODEL else settings.chat.model
    return {
        "Kafka broker": f"takes flagged posts and hands approved replies on, at {bootstrap}; it forgets when it ends.",
        "Worker": "finds whom a post attacks, finds evidence, drafts, and checks what it drafted.",
        "Words on file" if model is None else "Language model": (
            "drafts are put together from them; no language model runs." if model is None
            else f"{model} drafts on this machine, where no words on file answer a post."
        ),
        "Ledger": "keeps every case, decision and reply on this machine; the next start goes on from there.",
        "This page": "is where people decide. Nothing is sent without their yes, and here nothing leaves the machine.",
    }  # fmt: skip


async def drain(ledger: Ledger, settings: Settings) -> None:
    """Save the flags that are still on the topic, because the embedded broker loses them."""
    try:
        await Intake(ledger, settings).drain()
    except Unavailable as error:
        log.warning("flags that were not in the ledger yet are lost with the broker: %s", error)


async def send_samples(producer: Producer, settings: Settings) -> None:
    """Send the sample posts over Kafka; posts that an earlier run has sent change nothing."""
    await producer.send_all(Topics(settings.kafka.prefix).flags, [(post.key, encode(post)) for post in sample_posts()])


def sample_posts() -> list[FlaggedPost]:
    """Return the sample posts: fictional, mild, several for each target group."""
    lines = files("rejoinder").joinpath("sample_posts.jsonl").read_text().splitlines()
    return [FlaggedPost.model_validate(json.loads(line)) for line in lines if line.strip()]
