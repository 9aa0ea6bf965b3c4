"""Signatures of the records between stages, so that write access to a topic is not enough to be trusted by a stage.

A signature covers topic, key and value, so it is invalid on another topic or for another case. Records on `flags` have
none, because the platform may write there too.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from typing import Self

from core.errors import UnsignedMessage
from core.lifecycle import STAGES, TopicRole
from core.secrets import record_keys
from core.settings import Settings
from stream.topics import Topics

SIGNATURE = "rejoinder-signature"
"""The header with the signature, in hexadecimal."""
SIGNED = frozenset(plan.reads for plan in STAGES.values()) - {TopicRole.FLAGS}

_PURPOSE = b"rejoinder record, version 1"


class Signatures:
    """The signing keys of one installation (HMAC-SHA256, RFC 2104): the first one signs, all of them verify."""

    def __init__(self, keys: Sequence[bytes], topics: Topics) -> None:
        self._keys = keys
        self._topics = frozenset(map(topics.named, SIGNED))

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the signatures with the keys from the settings. Raises BadSettings if one is missing."""
        return cls(record_keys(settings), Topics(settings.kafka.prefix))

    def are_on(self, topic: str) -> bool:
        """Tell whether records on a topic need a signature."""
        return topic in self._topics

    def headers(self, topic: str, key: bytes | None, value: bytes | None) -> list[tuple[str, bytes]]:
        """Return the headers that a record needs on its topic; none on topics that the platform writes or reads."""
        return [(SIGNATURE, _signature(self._keys[0], topic, key, value))] if self.are_on(topic) else []

    def verify(self, topic: str, key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes]]) -> None:
        """Raise UnsignedMessage unless the topic needs no signature or one of the headers has a valid one."""
        if not self.are_on(topic):
            return
        signatures = [signature for name, signature in headers if name == SIGNATURE]
        ours = [_signature(signing_key, topic, key, value) for signing_key in self._keys]
        # Every pair is compared, so that the time taken reveals nothing.
        if not sum(hmac.compare_digest(theirs, own) for theirs in signatures for own in ours):
            fault = "none of our keys made its signature" if signatures else "it has no signature"
            raise UnsignedMessage(
                f"The message is not from one of Rejoinder's stages: {fault}. See who writes to {topic}, and whether "
                "all processes have the same kafka.signing_key."
            )


def _signature(signing_key: bytes, topic: str, key: bytes | None, value: bytes | None) -> bytes:
    digest = hmac.new(signing_key, _PURPOSE, "sha256")
    # Each part is preceded by its length, so that bytes can't be shifted from one part to the next.
    for part in (topic.encode(), key or b"", value or b""):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest().encode()
