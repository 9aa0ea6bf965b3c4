"""Settings of the broker, the worker and the gateway."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from core.settings.broker_addresses import canonical
from core.settings.section import Count, Days, Seconds, Section

_Wait = Annotated[float, Field(gt=0, le=86_400)]
"""Seconds, a day at most: Kafka's protocol counts milliseconds in 32 bits."""


class KafkaSettings(Section):
    """Where the broker is, how to connect to it, and how its topics are set up."""

    bootstrap: Annotated[str, AfterValidator(canonical)] = Field(
        "127.0.0.1:9092",
        description="Broker addresses, `host:port` or `[IPv6 address]:port`, separated by commas. A port left out is "
        "9092.",
    )
    prefix: str = Field(
        "rejoinder.",
        description="Prefix of all names of topics and consumer groups. Change it if several installations share a "
        "broker.",
    )
    partitions: Count = Field(
        4,
        description="Number of partitions of the topics that Rejoinder creates, and so of posts that one stage works "
        "on at once.",
    )
    replication: Count = Field(
        1, description="Number of replicas of the topics that Rejoinder creates. Use 3 in production."
    )
    timeout_s: _Wait = Field(10.0, description="Longest wait for an acknowledgement from the broker, in seconds.")
    session_timeout_s: Annotated[_Wait, Field(ge=6)] = Field(
        10.0,
        description="Seconds of silence after which the broker gives a worker's partitions to another worker. By "
        "default, brokers refuse less than 6.",
    )
    topics_days: Days = Field(7, description="Days that a topic keeps a message, if Rejoinder creates the topic.")
    dead_letters_days: Days = Field(
        30, description="Days that the topic of dead letters keeps a message, if Rejoinder creates the topic."
    )
    transactions: bool = Field(
        False,
        description="Send each reply in a Kafka transaction, so that a publisher that was paused while sending can't "
        "send it twice. Turn it on if the broker supports transactions (the embedded one does not) and "
        "readers of `replies` are set to `read_committed`.",
    )
    signing_key: SecretStr | None = Field(
        None,
        description="Key that signs the records between stages: at least 16 characters, the same in every process. "
        "Unset: if the broker is on this machine, a key is created once and kept in the data folder.",
    )
    signing_key_file: Path | None = Field(None, description="File with the signing key, instead of `signing_key`.")
    accepted_signing_key: SecretStr | None = Field(
        None, description="Second key whose signatures are accepted too. Set it while you replace the signing key."
    )
    accepted_signing_key_file: Path | None = Field(
        None, description="File with the second key, instead of `accepted_signing_key`."
    )
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT",
        description="Protocol for the broker: `SSL` encrypts, `SASL_SSL` also signs in. Use the other two only on "
        "loopback or in a private network.",
    )
    tls_ca_file: Path | None = Field(
        None,
        description="PEM file with the authorities that the broker's certificate is checked against. Unset: those of "
        "the system.",
    )
    tls_certificate_file: Path | None = Field(
        None, description="PEM file with Rejoinder's own certificate. Set it if the broker requires one."
    )
    tls_key_file: Path | None = Field(None, description="PEM file with the private key of that certificate.")
    tls_key_password: SecretStr | None = Field(None, description="Password of that private key, if it has one.")
    tls_key_password_file: Path | None = Field(
        None, description="File with that password, instead of `tls_key_password`."
    )
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] = Field(
        "SCRAM-SHA-512",
        description="How to sign in. `PLAIN` and `OAUTHBEARER` send a secret, so use them only over `SASL_SSL`.",
    )
    sasl_username: str | None = Field(None, description="Name to sign in with; not used by `OAUTHBEARER`.")
    sasl_password: SecretStr | None = Field(None, description="Password to sign in with; not used by `OAUTHBEARER`.")
    sasl_password_file: Path | None = Field(None, description="File with that password, instead of `sasl_password`.")
    sasl_token_file: Path | None = Field(
        None,
        description="File with the token for `OAUTHBEARER`, read at each connection. Something else has to keep the "
        "token fresh.",
    )

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return the brokers' addresses, `host:port`."""
        return tuple(self.bootstrap.split(","))

    @property
    def endpoints(self) -> tuple[tuple[str, int], ...]:
        """Return host and port of each broker, as sockets take them."""
        parts = (address.rpartition(":") for address in self.addresses)
        return tuple((host.strip("[]"), int(port)) for host, _, port in parts)


class StreamSettings(Section):
    """How workers retry messages, and how the desk process finds lost cases and publishes replies."""

    attempts: Count = Field(
        5,
        description="Number of tries before a message becomes a dead letter, if a model is unavailable. A message "
        "that ends its worker becomes one after as many starts, 3 at least.",
    )
    backoff_s: Seconds = Field(
        0.5, description="Wait before the second try, in seconds. It doubles with each further try."
    )
    backoff_max_s: Seconds = Field(15.0, description="Longest wait between two tries, in seconds.")
    idle_limit_s: Seconds = Field(
        60.0, description="Seconds without an event or a successful poll after which a worker exits, to be restarted."
    )
    stale_after_s: Seconds = Field(
        300.0,
        description="Seconds after which an unfinished case that has not moved is sent again, if its message is no "
        "longer on the topic.",
    )
    sweep_every_s: Seconds = Field(30.0, description="Seconds between two searches for such cases.")
    publish_every_s: Seconds = Field(0.25, description="Seconds between two looks into the outbox.")
    metrics_port: int = Field(
        0,
        ge=0,
        le=65535,
        description="Port on which a worker serves Prometheus metrics, `/healthz` and `/readyz`, on all addresses. "
        "0: none.",
    )
    lease_s: Seconds = Field(
        30.0, description="Seconds for which a publisher holds a row of the outbox before another may take it over."
    )


class GatewaySettings(Section):
    """What the HTTP gateway accepts."""

    max_body_bytes: Count = Field(8_000_000, description="Largest request body, in bytes.")
    max_batch: Count = Field(1000, description="Largest number of posts in one request.")
