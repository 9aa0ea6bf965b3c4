"""What a broker answers when it is asked for topics, from a stand-in of its client."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from aiokafka import errors
from aiokafka.admin import NewTopic
from aiokafka.protocol.admin import CreateTopicsResponse_v3

from core.errors import BadSettings, BrokerUnavailable
from core.lifecycle import TopicRole
from core.settings import KafkaSettings
from stream import topics
from stream.topics import Topics, ensure_topics

KAFKA = KafkaSettings(prefix="p.", partitions=4, replication=3)
NAMES = Topics("p.")


@dataclass
class Admin:
    """A client whose broker has topics with so many partitions each, and answers requests for others with codes."""

    partitions: dict[str, int]
    codes: dict[str, int]

    async def start(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""

    async def describe_topics(self) -> list[dict[str, Any]]:
        """Return the topics as the client does."""
        return [{"topic": name, "partitions": [{}] * count} for name, count in self.partitions.items()]

    async def create_topics(self, new_topics: Sequence[NewTopic]) -> Any:
        """Return the broker's answer."""
        return CreateTopicsResponse_v3(0, [(topic.name, self.codes.get(topic.name, 0), None) for topic in new_topics])


def answer(
    monkeypatch: pytest.MonkeyPatch, codes: dict[str, int] | None = None, partitions: dict[str, int] | None = None
) -> None:
    monkeypatch.setattr(topics, "AIOKafkaAdminClient", lambda **_: Admin(partitions or {}, codes or {}))


async def test_a_topic_that_another_process_made_meanwhile_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, {NAMES.flags: errors.TopicAlreadyExistsError.errno})
    await ensure_topics(KAFKA)


@pytest.mark.parametrize("refusal", [errors.InvalidReplicationFactorError, errors.TopicAuthorizationFailedError])
async def test_a_topic_that_the_broker_refuses_is_named(
    monkeypatch: pytest.MonkeyPatch, refusal: type[errors.BrokerResponseError]
) -> None:
    answer(monkeypatch, {NAMES.replies: refusal.errno})
    with pytest.raises(BadSettings, match=rf"p\.replies \({refusal.message}; kafka\.replication is 3"):
        await ensure_topics(KAFKA)


@pytest.mark.parametrize("trouble", [errors.NotControllerError, errors.RequestTimedOutError, errors.UnknownError])
async def test_a_trouble_of_the_broker_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, trouble: type[errors.BrokerResponseError]
) -> None:
    answer(monkeypatch, {NAMES.flags: trouble.errno})
    with pytest.raises(BrokerUnavailable, match=rf"p\.flags \({trouble.message}"):
        await ensure_topics(KAFKA)


async def test_a_topic_that_only_others_may_see_is_left_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker refuses to make such a topic even if it is there."""
    denied = errors.TopicAuthorizationFailedError.errno
    answer(monkeypatch, {NAMES.replies: denied})
    await ensure_topics(KAFKA, {TopicRole.FLAGS})
    answer(monkeypatch, {NAMES.flags: denied})
    with pytest.raises(BadSettings, match=r"p\.flags"):
        await ensure_topics(KAFKA, {TopicRole.FLAGS})


async def test_topics_with_too_few_partitions_are_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    answer(monkeypatch, partitions={NAMES.flags: 1, NAMES.replies: 4, NAMES.dead_letters: 9, "another": 1})
    with caplog.at_level(logging.WARNING):
        await ensure_topics(KAFKA)
    [warning] = caplog.messages
    assert warning.startswith("the topic p.flags has fewer partitions (1) than kafka.partitions (4)")
