"""Name the topics, and create those that are missing."""

from __future__ import annotations

from dataclasses import dataclass

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError, TopicAlreadyExistsError

from core.errors import BrokerUnavailable
from core.settings import KafkaSettings

_ROLES = ("flags", "triaged", "grounded", "drafts", "replies", "outcomes", "dead-letters")


@dataclass(frozen=True)
class Topics:
    """Hold the full name of every topic; all carry JSON, keyed by the case key."""

    prefix: str

    @property
    def flags(self) -> str:
        """Carry FlaggedPost, from gateway, `ingest` or the platform itself, to triage."""
        return f"{self.prefix}flags"

    @property
    def triaged(self) -> str:
        """Carry Triaged, from triage to ground."""
        return f"{self.prefix}triaged"

    @property
    def grounded(self) -> str:
        """Carry Grounded, from ground, or from the desk for a redraft, to draft."""
        return f"{self.prefix}grounded"

    @property
    def drafts(self) -> str:
        """Carry Draft, from draft to the desk agent."""
        return f"{self.prefix}drafts"

    @property
    def replies(self) -> str:
        """Carry the approved text, once a case, to the platform's connector."""
        return f"{self.prefix}replies"

    @property
    def outcomes(self) -> str:
        """Carry one final Outcome a case, to audit and analytics."""
        return f"{self.prefix}outcomes"

    @property
    def dead_letters(self) -> str:
        """Carry messages that could not be worked on, with the reason."""
        return f"{self.prefix}dead-letters"

    def all(self) -> tuple[str, ...]:
        """Return every topic's name."""
        return tuple(f"{self.prefix}{role}" for role in _ROLES)

    def named(self, role: str) -> str:
        """Return the topic for a role such as `replies`."""
        if role not in _ROLES:
            raise ValueError(f"no topic plays the role {role!r}; the roles are {', '.join(_ROLES)}")
        return f"{self.prefix}{role}"


async def ensure_topics(settings: KafkaSettings) -> None:
    """Create the missing topics; raises BrokerUnavailable when the broker does not answer."""
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.bootstrap, request_timeout_ms=int(settings.timeout_s * 1000))
    try:
        await admin.start()
        known = set(await admin.list_topics())
        missing = [name for name in Topics(settings.prefix).all() if name not in known]
        if missing:
            await admin.create_topics([NewTopic(name, settings.partitions, settings.replication) for name in missing])
    except TopicAlreadyExistsError:
        return
    except (KafkaError, OSError) as error:
        raise BrokerUnavailable(
            f"The broker at {settings.bootstrap} did not answer ({error}). Start it, or set REJOINDER_KAFKA__BOOTSTRAP."
        ) from error
    finally:
        await admin.close()
