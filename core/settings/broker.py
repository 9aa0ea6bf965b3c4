"""The broker, the worker and the gateway: how posts come in and move on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from core.settings.section import Count, Positive, Section


class KafkaSettings(Section):
    """Where the broker is, and how its topics look."""

    bootstrap: str = Field("127.0.0.1:9092", description="Broker addresses, `host:port`, comma-separated.")
    prefix: str = Field("rejoinder.", description="Put before every topic's and consumer group's name.")
    partitions: Count = Field(
        4, description="Partitions of a topic that Rejoinder creates; also how many posts one stage works on at once."
    )
    replication: Count = Field(1, description="Replicas of a topic that Rejoinder creates; 3 in production.")
    timeout_s: Positive = Field(10.0, description="Seconds to wait for the broker's acknowledgement.")
    session_timeout_s: Annotated[float, Field(ge=6)] = Field(
        10.0,
        description="Seconds after which the broker gives a silent worker's partitions to another; brokers "
        "refuse less than 6 by default.",
    )
    topics_days: Count = Field(7, description="Days that a topic Rejoinder creates keeps a message.")
    dead_letters_days: Count = Field(30, description="Days that the topic of dead letters keeps one, if we create it.")
    transactions: bool = Field(
        False,
        description="Send each reply in a Kafka transaction, so that a publisher that was paused while sending can't "
        "double it; for brokers that have them (not the embedded one) and readers set to `read_committed`.",
    )
    signing_key: SecretStr | None = Field(
        None,
        description="Key that records between stages are signed with, at least 16 characters, the same in every "
        "process; unset: made once and kept in the data folder, if the broker is on this machine.",
    )
    signing_key_file: Path | None = Field(None, description="File that holds the signing key instead.")
    accepted_signing_key: SecretStr | None = Field(
        None, description="A second key whose signatures are good too, while keys are changed."
    )
    accepted_signing_key_file: Path | None = Field(None, description="File that holds the second key instead.")
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT",
        description="How to talk to the broker: `SSL` encrypts, `SASL_SSL` also signs in; the other two are for "
        "loopback and networks of one's own.",
    )
    tls_ca_file: Path | None = Field(
        None, description="PEM file of the authorities that may vouch for the broker; unset: the system's."
    )
    tls_certificate_file: Path | None = Field(
        None, description="PEM file of our own certificate, where the broker asks for one."
    )
    tls_key_file: Path | None = Field(None, description="PEM file of that certificate's key.")
    tls_key_password: SecretStr | None = Field(None, description="Password of that key, if it has one.")
    tls_key_password_file: Path | None = Field(None, description="File that holds that password instead.")
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] = Field(
        "SCRAM-SHA-512",
        description="How to sign in; `PLAIN` and `OAUTHBEARER` send a secret, so use them over `SASL_SSL` only.",
    )
    sasl_username: str | None = Field(None, description="Name to sign in with; not for `OAUTHBEARER`.")
    sasl_password: SecretStr | None = Field(None, description="Password to sign in with; not for `OAUTHBEARER`.")
    sasl_password_file: Path | None = Field(None, description="File that holds that password instead.")
    sasl_token_file: Path | None = Field(
        None, description="File in which something else keeps a fresh token for `OAUTHBEARER`; read at each connection."
    )

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return the brokers' addresses, `host:port`."""
        return tuple(address.strip() for address in self.bootstrap.split(","))


class StreamSettings(Section):
    """How the worker behaves when things go wrong."""

    attempts: Count = Field(
        5,
        description="Tries for a message when a model is away, and starts (3 at least) on one that its worker does not "
        "survive, before it goes to dead letters.",
    )
    backoff_s: Positive = Field(0.5, description="Wait before the second try; doubles with each further one.")
    backoff_max_s: Positive = Field(15.0, description="Longest wait between tries.")
    idle_limit_s: Positive = Field(
        60.0, description="Seconds without an event or a successful poll after which a worker exits, to be restarted."
    )
    stale_after_s: Positive = Field(300.0, description="Seconds an unfinished case may sit before it is sent again.")
    sweep_every_s: Positive = Field(30.0, description="Seconds between two looks for such cases.")
    publish_every_s: Positive = Field(0.25, description="Seconds between two looks into the outbox.")
    metrics_port: int = Field(
        0,
        ge=0,
        le=65535,
        description="Port on which a worker serves its Prometheus metrics, `/healthz` and `/readyz`, on all addresses; "
        "0: none.",
    )
    lease_s: Positive = Field(30.0, description="Seconds one publisher holds an outbox row.")


class GatewaySettings(Section):
    """What the HTTP gateway takes in."""

    max_body_bytes: Count = Field(8_000_000, description="Largest request body.")
    max_batch: Count = Field(1000, description="Most posts in one request.")
