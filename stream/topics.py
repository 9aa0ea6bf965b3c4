"""The topics by name, and the creation of those that are missing, each for so many days."""

from __future__ import annotations

from dataclasses import dataclass

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError, TopicAlreadyExistsError

from core.errors import BrokerUnavailable
from core.lifecycle import TopicRole
from core.settings import KafkaSettings
from stream.connection import aiokafka_options


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


async def ensure_topics(settings: KafkaSettings) -> None:
    """Create the missing topics; raises BrokerUnavailable when the broker does not answer."""
    admin = AIOKafkaAdminClient(**aiokafka_options(settings), request_timeout_ms=int(settings.timeout_s * 1000))
    try:
        await admin.start()
        existing = set(await admin.list_topics())
        missing = [role for role in TopicRole if Topics(settings.prefix).named(role) not in existing]
        if missing:
            await admin.create_topics([_new_topic(settings, role) for role in missing])
    except TopicAlreadyExistsError:
        return
    except (KafkaError, OSError) as error:
        raise BrokerUnavailable(
            f"The broker at {settings.bootstrap} did not answer ({error}). Start it, or set REJOINDER_KAFKA__BOOTSTRAP."
        ) from error
    finally:
        await admin.close()
