"""Stream a JSONL file of flags to Kafka with kafka-python."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from kafka import KafkaProducer
from kafka.errors import KafkaError
from kafka.net.sasl.oauth import AbstractTokenProvider

from core.domain import FlaggedPost
from core.errors import BadInput, BrokerUnavailable
from core.settings import KafkaSettings
from stream.connection import client_options
from stream.messages import encode, validated
from stream.topics import Topics

MAX_LINE = 1_000_000
MAX_COMPLAINTS = 100


@dataclass
class IngestReport:
    """The result of an ingest; `complaints` has (line number, error) of the first MAX_COMPLAINTS bad lines."""

    sent: int = 0
    bad: int = 0
    complaints: list[tuple[int, str]] = field(default_factory=list)

    def complain(self, line: int, message: str) -> None:
        """Count a bad line and keep its error."""
        self.bad += 1
        if len(self.complaints) < MAX_COMPLAINTS:
            self.complaints.append((line, message))


class TokenFile(AbstractTokenProvider):  # type: ignore[misc]  # kafka-python has no types
    """A file with an OAuth token that another program keeps fresh; read at each connection."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def token(self) -> str:
        """Return the token. Raises OSError if the file can't be read."""
        return self._path.read_text().strip()


def ingest(lines: Iterable[bytes], settings: KafkaSettings, progress: Callable[[int], None]) -> IngestReport:
    """Send all valid lines and report the bad ones; `progress` is called with the size of each line in bytes.

    Memory use does not depend on the file's size. Returns after the broker has acknowledged everything; raises
    BrokerUnavailable if it does not.
    """
    report = IngestReport()
    failures: list[BaseException] = []
    topic = Topics(settings.prefix).flags
    producer = connect(settings)
    try:
        for number, line in enumerate(lines, start=1):
            progress(len(line))
            if failures:
                break
            post = read_line(line, number, report)
            if post is not None:
                producer.send(topic, key=post.key.encode(), value=encode(post)).add_errback(failures.append)
                report.sent += 1
        producer.flush(timeout=settings.timeout_s * 3)
    except KafkaError as error:
        failures.append(error)
    finally:
        producer.close(timeout=settings.timeout_s)
    if failures:
        raise BrokerUnavailable(
            f"The broker at {settings.bootstrap} stopped acknowledging after about {report.sent:,} posts "
            f"({failures[0]!r}). Run the same command again when it is back: posts already taken are not doubled."
        )
    return report


def connect(settings: KafkaSettings) -> KafkaProducer:
    """Return a connected producer. Raises BrokerUnavailable or BadSettings.

    The addresses are probed first, because kafka-python leaks its sockets if its own bootstrap fails.
    """
    try:
        _check_listening(settings)
        return KafkaProducer(
            **client_options(settings, TokenFile),
            acks="all",
            enable_idempotence=False,
            linger_ms=20,
            request_timeout_ms=int(settings.timeout_s * 1000),
            delivery_timeout_ms=int(settings.timeout_s * 3000),
            bootstrap_timeout_ms=int(settings.timeout_s * 1000),
        )
    except (KafkaError, OSError) as error:
        raise BrokerUnavailable(
            f"The broker at {settings.bootstrap} did not answer ({error!r}). "
            "Start `rejoinder demo`, or set REJOINDER_KAFKA__BOOTSTRAP."
        ) from error


def _check_listening(settings: KafkaSettings) -> None:
    failure: OSError | None = None
    for endpoint in settings.endpoints:
        try:
            socket.create_connection(endpoint, settings.timeout_s).close()
            return
        except OSError as error:
            failure = error
    raise failure or OSError("no address is set")


def read_line(line: bytes, number: int, report: IngestReport) -> FlaggedPost | None:
    """Return the post on a line, or None if it is empty or bad; bad lines are added to the report."""
    if not line.strip():
        return None
    if len(line) > MAX_LINE:
        report.complain(number, f"has {len(line):,} bytes; {MAX_LINE:,} is the most")
        return None
    try:
        return validated(json.loads(line), FlaggedPost)
    except BadInput as error:
        report.complain(number, str(error))
    except (ValueError, RecursionError) as error:
        report.complain(number, f"not JSON: {error}")
    return None
