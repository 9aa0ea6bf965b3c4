"""The topics by name, and the creation of those that are missing, each for so many days."""

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
"""What the broker says of troubles of its own, beside what its client calls retriable."""


@dataclass(frozen=True)
class Topics:
    """The full name of every topic; `TopicRole` says what each carries."""

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
        """Return the topic of messages that could not be worked on."""
        return self.named(TopicRole.DEAD_LETTERS)

    def all(self) -> tuple[str, ...]:
        """Return every topic's name."""
        return tuple(map(self.named, TopicRole))

    def named(self, role: TopicRole) -> str:
        """Return the topic that plays a role."""
        return f"{self.prefix}{role}"


def worker_group(settings: KafkaSettings) -> str:
    """Return the consumer group that all workers are in."""
    return f"{settings.prefix}worker"


DAY_MS = 86_400_000


def retention_days(settings: KafkaSettings, role: TopicRole) -> int:
    """Return for how many days a topic is made to keep a message."""
    return settings.dead_letters_days if role is TopicRole.DEAD_LETTERS else settings.topics_days


def _new_topic(settings: KafkaSettings, role: TopicRole) -> NewTopic:
    limits = {"retention.ms": str(retention_days(settings, role) * DAY_MS)}
    name = Topics(settings.prefix).named(role)
    return NewTopic(name, settings.partitions, settings.replication, topic_configs=limits)


async def ensure_topics(settings: KafkaSettings, needed: Collection[TopicRole] = tuple(TopicRole)) -> None:
    """Create the missing topics, and warn of those that have fewer partitions than the settings ask for.

    `needed` are those that this process works with. Of the others the broker may show it none, nor let it make them.
    Raises BrokerUnavailable when the broker does not answer or can't make a topic now, and BadSettings when it won't.
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
    # The client raises nothing for a topic that was refused.
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
    """Raise what a broker's answer to the request for a topic means, unless the topic is there now."""
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
