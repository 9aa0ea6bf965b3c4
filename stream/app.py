"""The Faust app: one agent per stage, set up so that no message is lost under SIGKILL.

docs/decisions.md, "At least once", gives the measurements. `isolated_partitions` gives each partition its own actor, so
that a slow post delays only its partition. `noack()` leaves acknowledging to us: after the result is sent, never
before, and never out of order. Values are raw bytes, so that malformed ones are handled by our codec instead of failing
in Faust's.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import faust
from aiokafka.errors import KafkaError

from core.errors import BrokerUnavailable, MessageTooLarge
from core.lifecycle import STAGES, TopicRole
from core.settings import KafkaSettings, Settings
from stream import readable_batches
from stream.connection import aiokafka_options
from stream.dead_letters import DeadLetterWriter
from stream.delivery import Delivery, Incoming, Send
from stream.in_hand import InHand
from stream.liveness import Liveness
from stream.messages import MAX_MESSAGE, encode
from stream.producer import TOO_LARGE
from stream.prompt_transport import PromptTransport
from stream.signing import Signatures
from stream.stages import Outgoing, Stage
from stream.topics import Topics, worker_group

log = logging.getLogger(__name__)


def build_app(
    settings: Settings, stages: Sequence[Stage], dead_letters: DeadLetterWriter, liveness: Liveness, in_hand: InHand
) -> Any:
    """Return a Faust app with an agent for each stage, not started. Raises BadSettings without a signing key."""
    signatures = Signatures.of(settings)
    readable_batches.install()
    kafka = settings.kafka
    app = faust.App(
        worker_group(kafka),
        broker=[f"kafka://{address}" for address in kafka.addresses],
        broker_credentials=credentials(kafka),
        web_enabled=False,
        # Otherwise Faust creates a folder in the directory from which the worker was started.
        datadir=settings.data_dir / "faust",
        topic_disable_leader=True,
        topic_allow_declare=False,
        topic_partitions=kafka.partitions,
        broker_session_timeout=kafka.session_timeout_s,
        broker_heartbeat_interval=kafka.session_timeout_s / 3,
        producer_acks=-1,
        producer_linger_ms=0,
        producer_request_timeout=kafka.timeout_s,
        consumer_auto_offset_reset="earliest",
        broker_commit_interval=0.5,
        stream_wait_empty=False,
    )
    app.transport = PromptTransport(app.conf.broker_consumer, app)
    topics = Topics(kafka.prefix)
    for stage in stages:
        spec = STAGES[stage.name]
        send = make_sender(app, topics, spec.writes, signatures)
        delivery = Delivery(stage, signatures, send, dead_letters.write, settings.stream, liveness, in_hand)
        source = raw_topic(app, topics.named(spec.reads))
        app.agent(source, name=stage.name.value, isolated_partitions=True)(agent_function(delivery))
    return app


def credentials(kafka: KafkaSettings) -> Any | None:
    """Return the credentials in Faust's own form, or None without TLS and SASL. Raises BadSettings."""
    options = aiokafka_options(kafka)
    context = options.get("ssl_context")
    if token := options.get("sasl_oauth_token_provider"):
        return faust.OAuthCredentials(oauth_cb=token, ssl_context=context)
    if mechanism := options.get("sasl_mechanism"):
        name, password = options["sasl_plain_username"], options["sasl_plain_password"]
        return faust.SASLCredentials(username=name, password=password, ssl_context=context, mechanism=mechanism)
    return context and faust.SSLCredentials(context)


def raw_topic(app: Any, name: str) -> Any:
    """Return a topic whose keys and values stay bytes."""
    return app.topic(name, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")


def agent_function(delivery: Delivery) -> Any:
    """Return the agent function that passes a stream's messages to `delivery`."""

    async def deliver(stream: Any) -> None:
        async for event in stream.noack().events():
            await delivery.deliver(to_incoming(event))
            await stream.ack(event)

    return deliver


def to_incoming(event: Any) -> Incoming:
    """Convert a Faust event to an Incoming message."""
    message = event.message
    headers = message.headers.items() if isinstance(message.headers, dict) else message.headers or ()
    return Incoming(
        topic=message.topic,
        partition=message.partition,
        offset=message.offset,
        key=message.key,
        value=message.value,
        headers=tuple((name, bytes(value or b"")) for name, value in headers),
    )


def make_sender(app: Any, topics: Topics, role: TopicRole | None, signatures: Signatures) -> Send:
    """Return a function that signs a message, sends it through the app's producer and waits for the acknowledgement.

    The function raises BrokerUnavailable, or MessageTooLarge if the broker will never accept the message. With `role`
    None (the last stage) there is no topic to write to, and any message is a bug in the stage: it raises TypeError.
    """
    name = topics.named(role) if role else None
    channel = raw_topic(app, name) if name else None

    async def send(outgoing: Outgoing) -> None:
        if name is None or channel is None:
            raise TypeError(f"the last stage returned a message for {outgoing.key}, and there is no topic for it")
        value = encode(outgoing.record)
        too_large = MessageTooLarge(
            f"The result has {len(value):,} bytes, too many for a message on {name}: {MAX_MESSAGE:,} is the most, or "
            "less where the broker is set so."
        )
        if len(value) > MAX_MESSAGE:
            raise too_large
        try:
            key = outgoing.key.encode()
            await (await channel.send(key=key, value=value, headers=signatures.headers(name, key, value)))
        except TOO_LARGE as error:
            raise too_large from error
        except (KafkaError, OSError) as error:
            raise BrokerUnavailable(f"The broker did not take a message for {name}: {error!r}.") from error

    return send
