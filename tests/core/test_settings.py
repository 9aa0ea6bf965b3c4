"""Settings: every one described, sources in order, mistakes named, secrets hidden."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka.cluster import collect_hosts
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from core.errors import BadSettings
from core.secrets import author_key, kept_secret, record_keys
from core.settings import GuardSettings, KafkaSettings, LedgerSettings, Settings
from rejoinder.commands.process import load_settings
from stream.connection import client_options


def leaves(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from leaves(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def test_every_setting_says_what_it_is_for() -> None:
    silent = [name for name, field in leaves(Settings) if not (field.description or "").strip()]
    assert not silent


def test_environment_beats_file_and_file_beats_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rejoinder.toml").write_text('[kafka]\nbootstrap = "file:1"\npartitions = 7\n')
    monkeypatch.setenv("REJOINDER_KAFKA__BOOTSTRAP", "environment:1")
    settings = load_settings()
    assert (settings.kafka.bootstrap, settings.kafka.partitions, settings.kafka.replication) == ("environment:1", 7, 1)


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("REJOINDER_KAFKA__PARTITIONS", "0", "kafka.partitions"),
        ("REJOINDER_KAFKA__BOOTSTARP", "x:1", "kafka.bootstarp"),
        ("REJOINDER_DESK__PORT", "70000", "desk.port"),
        ("REJOINDER_DISCORD__SERVERS", f'{{"1": {{"channel": "{"9" * 256}"}}}}', "discord.servers"),
        ("REJOINDER_DESK__TOKENS", '{"ana": {"token": "short"}}', "desk.tokens"),
        ("REJOINDER_DESK__TOKENS", '{"ana": {"token": "secret-secret"', "as JSON"),
        ("REJOINDER_DRAFT__OFFERED", "locked", "as JSON"),
        ("REJOINDER_GUARD__PLATFORM_MAX_CHARS", '{"birdsong": 0}', "guard.platform_max_chars.birdsong"),
        ("REJOINDER_GUARD__MIN_HARMLESS", "0.6", "min_harmless is above min_opposition"),
        ("REJOINDER_GUARD__MIN_SENTENCE_FIT", "0.4", "min_sentence_fit is above min_fit"),
        ("REJOINDER_TRIAGE__DISMISS_BELOW", "0.3", "dismiss_below is above doubt_below"),
        ("REJOINDER_RETENTION__CASES_DAYS", "999999", "cases_days: .* 36500"),
        ("REJOINDER_STREAM__STALE_AFTER_S", "inf", "stale_after_s"),
        ("REJOINDER_KAFKA__TOPICS_DAYS", "999999", "topics_days"),
        ("REJOINDER_KAFKA__SESSION_TIMEOUT_S", "9e9", "session_timeout_s"),
        ("REJOINDER_DESK__UNDO_S", "9e99", "undo_s"),
        ("REJOINDER_CARE__QUIET_FROM", "22:00", "both quiet_from and quiet_until"),
    ],
)
def test_a_mistake_is_named(name: str, value: str, complaint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSettings, match=complaint) as caught:
        load_settings()
    assert "secret-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("bootstrap", "endpoints"),
    [
        ("localhost", (("localhost", 9092),)),
        ("[::1]:9093", (("::1", 9093),)),
        ("2001:db8::1", (("2001:db8::1", 9092),)),
        (" kafka-1:9093, kafka_2 ,", (("kafka-1", 9093), ("kafka_2", 9092))),
    ],
)
def test_broker_addresses_are_read_in_every_form_that_kafka_clients_take(
    bootstrap: str, endpoints: tuple[tuple[str, int], ...]
) -> None:
    kafka = KafkaSettings(bootstrap=bootstrap)
    assert kafka.endpoints == endpoints
    clients_view = collect_hosts(client_options(kafka, Path)["bootstrap_servers"], randomize=False)
    assert tuple((host, port) for host, port, _ in clients_view) == endpoints


@pytest.mark.parametrize("bootstrap", ["", " , ", "h:x", "h:0", "h:65536", "a b:1", "ssl://h:1", "[h]:1", "u:secret@h"])
def test_broker_addresses_that_nobody_could_connect_to_are_a_mistake(
    bootstrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REJOINDER_KAFKA__BOOTSTRAP", bootstrap)
    with pytest.raises(BadSettings, match=r"kafka\.bootstrap: .*`host:port`") as caught:
        load_settings()
    assert "secret" not in str(caught.value)


def test_a_settings_file_that_is_no_toml_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rejoinder.toml").write_text("[kafka\n")
    with pytest.raises(BadSettings, match=r"rejoinder\.toml"):
        load_settings()


def test_a_platform_may_be_written_with_capitals() -> None:
    assert GuardSettings(platform_max_chars={"Birdsong": 140}).platform_max_chars == {"birdsong": 140}


def test_a_data_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(BadSettings, match="REJOINDER_DATA_DIR"):
            kept_secret(folder / "demo.token")


def test_a_secret_shows_in_no_error_and_no_dump(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_DESK__TOKENS", '{"ana": {"token": "hush-hush-hush", "role": "king"}}')
    with pytest.raises(BadSettings) as caught:
        load_settings()
    assert "hush" not in str(caught.value)
    monkeypatch.setenv("REJOINDER_DESK__TOKENS", '{"ana": {"token": "hush-hush-hush"}}')
    settings = load_settings()
    assert "hush" not in settings.model_dump_json() and "hush" not in repr(settings)


def test_a_kept_secret_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "data" / "author.key"
    first = kept_secret(path)
    assert kept_secret(path) == first and len(first) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert author_key(Settings(data_dir=path.parent)) == first.encode()


def test_an_empty_key_is_refused_as_anybody_could_sign_with_it(tmp_path: Path) -> None:
    (tmp_path / "record.key").write_text("\n")
    with pytest.raises(BadSettings, match=r"record\.key is empty.*backup"):
        record_keys(Settings(data_dir=tmp_path))


def test_a_kept_secret_is_on_disk_before_it_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a power loss, a file whose content was never written would be empty."""
    path = tmp_path / "author.key"
    synced: list[tuple[bool, bool]] = []

    def sync(file: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(file).st_mode)
        synced.append((is_folder, path.exists()))

    monkeypatch.setattr(os, "fsync", sync)
    kept_secret(path)
    kept_secret(path)
    assert synced == [(False, False), (True, True)], "the content first, then its name; once"


def test_a_ledger_that_several_machines_share_needs_a_given_author_key(tmp_path: Path) -> None:
    """A process that made a key of its own would chain the history with it, and break it for good."""
    shared = LedgerSettings(url="postgresql+asyncpg://rejoinder@db/rejoinder")
    kept_secret(tmp_path / "author.key")
    with pytest.raises(BadSettings, match=r"REJOINDER_LEDGER__AUTHOR_KEY is not set.*author\.key"):
        author_key(Settings(data_dir=tmp_path, ledger=shared))
    given = shared.model_copy(update={"author_key": SecretStr("the same for all")})
    assert author_key(Settings(data_dir=tmp_path, ledger=given)) == b"the same for all"
