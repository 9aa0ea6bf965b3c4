"""Two publishers of one reply, one of them really stopped; and what transactions add where a broker has them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiokafka.errors import NotEnoughReplicasError, ProducerFenced

from core.domain import CaseState, DraftRequest, now
from core.errors import BrokerUnavailable
from core.settings import KafkaSettings, Settings
from ledger import Ledger
from stream import transactions
from stream.outbox import OutboxPublisher
from stream.producer import Producer
from stream.topic_reader import read_topic
from stream.topics import Topics
from stream.transactions import transaction
from tests.factories import make_draft, make_grounding, make_post, make_triage

TEXT = "All people are equal in dignity. Nobody's group makes them less."
STOPPED = """
import asyncio, os, signal, sys
from core.settings import Settings
from ledger import Ledger
from stream.outbox import OutboxPublisher
from stream.producer import Producer

async def main():
    settings = Settings.model_validate_json(sys.argv[1])
    ledger = await Ledger.open(settings.ledger_url, b"a key for tests")
    noted = ledger.outbox.note_probe

    async def note_and_stop(*arguments):
        result = await noted(*arguments)
        os.kill(os.getpid(), signal.SIGSTOP)
        return result

    ledger.outbox.note_probe = note_and_stop
    async with Producer(settings.kafka) as producer:
        print(await OutboxPublisher(ledger, producer, settings).publish_due())
    await ledger.close()

asyncio.run(main())
"""


async def approved(ledger: Ledger) -> str:
    post = make_post(platform="birdsong")
    await ledger.stages.triage(post, make_triage())
    await ledger.stages.ground(post.key, make_grounding(), DraftRequest())
    await ledger.stages.draft(make_draft(post.key, text=TEXT, created_at=now()))
    version = (await ledger.cases.get(post.key)).version
    await ledger.decisions.approve(post.key, version, "ana", TEXT, "", now() - timedelta(seconds=1))
    return post.key


@pytest.fixture
def stopped_publisher(settings: Settings) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED, settings.model_dump_json()],
        cwd=Path(__file__).parents[2], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    yield process
    process.kill()
    process.communicate()


@pytest.mark.live
async def test_a_process_that_is_stopped_before_its_send_and_goes_on_later_sends_nothing(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics, request: pytest.FixtureRequest
) -> None:
    key = await approved(ledger)
    process: subprocess.Popen[str] = request.getfixturevalue("stopped_publisher")
    _, status = await asyncio.to_thread(os.waitpid, process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status), process.communicate()

    ledger.outbox._database.clock = lambda: now() + timedelta(seconds=settings.stream.lease_s)
    successor = OutboxPublisher(ledger, producer, settings)
    while (await ledger.cases.get(key)).state is not CaseState.RELEASED:
        await successor.publish_due()

    process.send_signal(signal.SIGCONT)
    taken, errors = await asyncio.to_thread(process.communicate, None, 60)
    assert taken == "1\n", errors
    assert "was taken over" in errors
    assert len([record async for record in read_topic(settings.kafka, topics.replies)]) == 1


@pytest.mark.live
async def test_on_a_broker_without_transactions_replies_wait_and_the_reason_names_the_setting(
    ledger: Ledger, producer: Producer, settings: Settings
) -> None:
    key = await approved(ledger)
    kafka = settings.kafka.model_copy(update={"transactions": True, "timeout_s": 2.0})
    with pytest.raises(BrokerUnavailable, match="REJOINDER_KAFKA__TRANSACTIONS"):
        async with transaction(kafka, 1):
            pass
    assert await OutboxPublisher(ledger, producer, settings.model_copy(update={"kafka": kafka})).publish_due() == 1
    assert (await ledger.cases.get(key)).state is CaseState.APPROVED


class BrokerWithTransactions:
    """The part of a broker that fences: whoever opened a transactional id last may write, all others are refused."""

    def __init__(self) -> None:
        self.epochs: dict[str, int] = {}
        self.log: list[bytes] = []

    def client(self, **options: Any) -> FencedClient:
        return FencedClient(self, options["transactional_id"])


class FencedClient:
    """The calls of an aiokafka producer that a transaction makes."""

    def __init__(self, broker: BrokerWithTransactions, name: str) -> None:
        self._broker, self._name, self._epoch = broker, name, 0

    async def start(self) -> None:
        self._epoch = self._broker.epochs[self._name] = self._broker.epochs.get(self._name, 0) + 1

    async def stop(self) -> None:
        pass

    def transaction(self) -> FencedClient:
        return self

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, *_: object) -> None:
        pass

    async def send_and_wait(self, topic: str, *, key: bytes, value: bytes, headers: list[tuple[str, bytes]]) -> None:
        if self._epoch != self._broker.epochs[self._name]:
            raise ProducerFenced
        self._broker.log.append(value)


async def test_with_transactions_who_was_paused_within_its_send_is_refused_by_the_broker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broker = BrokerWithTransactions()
    monkeypatch.setattr(transactions, "AIOKafkaProducer", broker.client)
    kafka = KafkaSettings(transactions=True)
    with pytest.raises(BrokerUnavailable, match="ProducerFenced"):
        async with transaction(kafka, 7) as paused:
            async with transaction(kafka, 7) as successor:
                await successor("replies", "forum/1", b"reply", {})
            async with transaction(kafka, 8) as other:
                await other("replies", "forum/2", b"another", {})
            await paused("replies", "forum/1", b"reply", {})
    assert broker.log == [b"reply", b"another"]


class ClientWithoutCoordinator(FencedClient):
    """A client whose broker accepts nothing, and whose coordinator has gone away since the start."""

    async def __aexit__(self, *_: object) -> None:
        await asyncio.Event().wait()

    async def send_and_wait(self, topic: str, *, key: bytes, value: bytes, headers: list[tuple[str, bytes]]) -> None:
        raise NotEnoughReplicasError

    async def stop(self) -> None:
        await asyncio.Event().wait()


@pytest.mark.parametrize(("limit_s", "lease_s"), [(0.05, 60), (60, 0.05)])
async def test_a_coordinator_that_goes_away_holds_no_publisher_up(
    monkeypatch: pytest.MonkeyPatch, limit_s: float, lease_s: float
) -> None:
    monkeypatch.setattr(transactions, "STOP_LIMIT_S", 0.05)
    monkeypatch.setattr("stream.producer.STOP_LIMIT_S", 0.05)
    broker = BrokerWithTransactions()

    def client(**options: Any) -> FencedClient:
        return ClientWithoutCoordinator(broker, options["transactional_id"])

    monkeypatch.setattr(transactions, "AIOKafkaProducer", client)

    async def publish() -> None:
        async with asyncio.timeout(lease_s), transaction(KafkaSettings(timeout_s=limit_s), 7) as send:
            await send("replies", "forum/1", b"reply", {})

    publishing = asyncio.create_task(publish())
    await asyncio.wait({publishing}, timeout=30)
    assert publishing.done(), "it hangs"
    assert isinstance(publishing.exception(), BrokerUnavailable if limit_s < lease_s else TimeoutError)
