"""The names of the topics, and the creation of missing ones with their retention."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from aiokafka import errors
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from core.errors import BadSettings, BrokerUnavailable
from core.lifecycle import TopicRole
from core.settings import KafkaSettings
from stream.connection import aiokafka_options

log = logging.getLogger(__name__)

_MADE = (errors.NoError, errors.TopicAlreadyExistsError)
_NOT_ALLOWED = (errors.TopicAuthorizationFailedError, errors.ClusterAuthorizationFailedError)
_MAY_PASS = (errors.UnknownError, errors.BrokerNotAvailableError)
"""Errors of the broker that may be temporary, besides those that the client calls retriable."""


@dataclass(frozen=True)
class Topics:
    """The full names of all topics; `TopicRole` says what each carries."""

    prefix: str

    @property
    def flags(self) -> str:
        """Return the topic of flagged posts."""
        return self.named(TopicRole.FLAGS)

    @property
    def replies(self) -> str:
        """Return the topic of approved replies."""
        return self.named(TopicRole.REPLIES)

    @property
    def dead_letters(self) -> str:
        """Return the topic of messages that could not be processed."""
        return self.named(TopicRole.DEAD_LETTERS)

    def all(self) -> tuple[str, ...]:
        """Return the names of all topics."""
        return tuple(map(self.named, TopicRole))

    def named(self, role: TopicRole) -> str:
        """Return the full name of the topic with this role."""
        return f"{self.prefix}{role}"


def worker_group(settings: KafkaSettings) -> str:
    """Return the consumer group of all workers."""
    return f"{settings.prefix}worker"


DAY_MS = 86_400_000


def retention_days(settings: KafkaSettings, role: TopicRole) -> int:
    """Return for how many days a newly created topic keeps a message."""
    return settings.dead_letters_days if role is TopicRole.DEAD_LETTERS else settings.topics_days


def _new_topic(settings: KafkaSettings, role: TopicRole) -> NewTopic:
    limits = {"retention.ms": str(retention_days(settings, role) * DAY_MS)}
    name = Topics(settings.prefix).named(role)
    return NewTopic(name, settings.partitions, settings.replication, topic_configs=limits)


async def ensure_topics(settings: KafkaSettings, needed: Collection[TopicRole] = tuple(TopicRole)) -> None:
    """Create the missing topics, and warn of those with fewer partitions than the settings require.

    `needed` are the topics that this process uses; the broker may hide the others from it or forbid it to create them.
    Raises BrokerUnavailable if the broker does not answer or can't create a topic now, BadSettings if it refuses to.
    """
    admin = AIOKafkaAdminClient(**aiokafka_options(settings), request_timeout_ms=int(settings.timeout_s * 1000))
    names = {Topics(settings.prefix).named(role): role for role in TopicRole}
    try:
        await admin.start()
        partitions = {topic["topic"]: len(topic["partitions"]) for topic in await admin.describe_topics()}
        missing = [role for name, role in names.items() if name not in partitions]
        created = await admin.create_topics([_new_topic(settings, role) for role in missing]) if missing else None
    except (errors.KafkaError, OSError) as error:
        raise BrokerUnavailable(
            f"The broker at {settings.bootstrap} did not answer ({error}). Start it, or set REJOINDER_KAFKA__BOOTSTRAP."
        ) from error
    finally:
        await admin.close()
    _warn_of_few_partitions(settings, {name: partitions[name] for name in names if name in partitions})
    # The client raises no error for a refused topic.
    for name, code, *_ in created.topic_errors if created else ():
        _check_made(settings, name, errors.for_code(code), is_needed=names[name] in needed)


def _warn_of_few_partitions(settings: KafkaSettings, partitions: Mapping[str, int]) -> None:
    wanted = settings.partitions
    for name, count in partitions.items():
        if count < wanted:
            log.warning(
                "the topic %s has fewer partitions (%d) than kafka.partitions (%d), which bounds what is worked on at "
                "once; add some: kafka-topics --alter --topic %s --partitions %d", name, count, wanted, name, wanted,
            )  # fmt: skip


def _check_made(
    settings: KafkaSettings, name: str, answer: type[errors.BrokerResponseError], *, is_needed: bool
) -> None:
    """Raise the error that matches the broker's answer about a topic, unless the topic exists now."""
    if answer in _MADE:
        return
    if answer in _NOT_ALLOWED and not is_needed:
        log.info("the topic %s is not ours to see or make", name)
        return
    refusal = f"The broker at {settings.bootstrap} did not make the topic {name} ({answer.message}"
    if answer.retriable or answer in _MAY_PASS:
        raise BrokerUnavailable(f"{refusal}). Its log says more.")
    raise BadSettings(
        f"{refusal}; kafka.replication is {settings.replication}). Set REJOINDER_KAFKA__REPLICATION to no more than "
        "there are brokers, give this account the rights in docs/security.md, or make the topic by hand."
    )
