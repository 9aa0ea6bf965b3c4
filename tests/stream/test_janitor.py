"""Retention: what is too old goes, all else stays, and the log says what was done."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from core.domain import CaseState, Route, now
from core.errors import CaseNotFound, LedgerUnavailable
from core.lifecycle import TopicRole
from core.settings import KafkaSettings, RetentionSettings, Settings
from ledger import Ledger
from ledger.erasure import ERASED_TEXT
from stream import janitor
from stream.janitor import Janitor, Tidied, turn_logs
from stream.topics import retention_days
from tests.core.turned_clock import TurnedClock
from tests.factories import make_post, make_triage
from tests.new_ledger import KEY, new_sqlite

DAY = timedelta(days=1)


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    opened = await Ledger.open(new_sqlite(tmp_path), KEY)
    yield opened
    await opened.close()


def keeper(ledger: Ledger, tmp_path: Path, **days: int) -> Janitor:
    return Janitor(ledger, Settings(data_dir=tmp_path, retention=RetentionSettings(**days)))


async def dismissed(ledger: Ledger, number: int = 1) -> None:
    """Make a case that triage ended, with its outcome sent."""
    await ledger.stages.triage(make_post(number), make_triage(route=Route.DISMISS))
    for row in await ledger.outbox.lease("p", 30, 10):
        await ledger.outbox.note_sent(row, "p")


async def test_without_a_period_everything_is_kept(ledger: Ledger, tmp_path: Path) -> None:
    await dismissed(ledger)
    assert await keeper(ledger, tmp_path).tidy(now() + 9_999 * DAY) == Tidied()
    assert (await ledger.cases.get("forum/1")).erased_at is None


async def test_texts_go_first_and_then_the_case(
    ledger: Ledger, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await dismissed(ledger)
    await ledger.stages.receive([make_post(2)])
    rounds = keeper(ledger, tmp_path, posts_days=30, cases_days=90)
    assert await rounds.tidy(now() + 29 * DAY) == Tidied()
    with caplog.at_level(logging.INFO):
        assert await rounds.tidy(now() + 31 * DAY) == Tidied(erased=2)
    assert "texts of 2 cases erased" in caplog.text and "forum/1" not in caplog.text
    case = await ledger.cases.get("forum/2")
    assert (case.post.text, case.state) == (ERASED_TEXT, CaseState.DISMISSED)
    assert (await ledger.history.of("forum/2"))[-1].who == "retention"
    assert await rounds.tidy(now() + 31 * DAY) == Tidied()

    assert await rounds.tidy(now() + 91 * DAY) == Tidied(pruned=1, waiting=1), "the outcome of 2 is still owed"
    with pytest.raises(CaseNotFound):
        await ledger.cases.get("forum/1")
    assert (await ledger.audit.verify()).broken is None


async def test_cases_that_wait_hold_up_no_others(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(janitor, "BATCH", 2)
    for number in range(3):
        await ledger.stages.receive([make_post(number)])
    for number in range(3, 6):
        await dismissed(ledger, number)
    for number in range(3):
        await ledger.cards.reserve("discord", "s", f"forum/{number}", "c")
        await ledger.cards.record_message("discord", "s", f"forum/{number}", f"m{number}", 0)
    assert await keeper(ledger, tmp_path, cases_days=1).tidy(now() + 2 * DAY) == Tidied(erased=6, pruned=3, waiting=3)


async def test_a_case_that_another_janitor_has_pruned_meanwhile_is_passed_over(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(janitor, "BATCH", 1)
    for number in (1, 2):
        await dismissed(ledger, number)
    erase = ledger.erasure.erase

    async def erase_after_the_other(key: str, who: str, reason: str) -> object:
        if key == "forum/1":
            await erase(key, who, reason)
            await ledger.erasure.prune(key)
        return await erase(key, who, reason)

    monkeypatch.setattr(ledger.erasure, "erase", erase_after_the_other)
    assert await keeper(ledger, tmp_path, posts_days=30).tidy(now() + 31 * DAY) == Tidied(erased=1)
    assert (await ledger.cases.get("forum/2")).erased_at is not None, "the next case is not passed over with it"


async def test_pruning_passes_over_no_case_with_one_that_another_janitor_has_pruned(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(janitor, "BATCH", 1)
    for number in (1, 2):
        await dismissed(ledger, number)
        await ledger.erasure.erase(f"forum/{number}", "operator", "erased on request")
    prune = ledger.erasure.prune

    async def prune_after_the_other(key: str) -> bool:
        if key == "forum/1":
            assert await prune(key)
        return await prune(key)

    monkeypatch.setattr(ledger.erasure, "prune", prune_after_the_other)
    assert await keeper(ledger, tmp_path, cases_days=30).tidy(now() + 31 * DAY) == Tidied(pruned=1)


async def test_a_pruned_case_that_is_listed_again_does_not_hold_up_the_round(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def due(before: datetime, limit: int, skip: int) -> list[str]:
        return ["forum/1"][skip:]

    monkeypatch.setattr(ledger.erasure, "due", due)
    assert await keeper(ledger, tmp_path, posts_days=30).tidy(now()) == Tidied()


async def test_logs_begin_anew_each_day_and_old_ones_go(ledger: Ledger, tmp_path: Path) -> None:
    await dismissed(ledger)
    logs = tmp_path / "logs"
    logs.mkdir()
    rounds = keeper(ledger, tmp_path, logs_days=2)
    with (logs / "worker.log").open("ab", buffering=0) as file:
        file.write(b"one\n")
        start = now() - DAY
        assert await rounds.tidy(start) == Tidied()
        kept = logs / f"worker.log.{start:%Y-%m-%d}"
        assert (kept.read_bytes(), kept.stat().st_mode & 0o777) == (b"one\n", 0o600)
        file.write(b"two\n")
        assert await rounds.tidy(start) == Tidied()
        assert os.fstat(file.fileno()).st_size == 4
        assert await rounds.tidy(start + 4 * DAY) == Tidied(messages=1, log_files=1)
    assert not kept.exists()
    assert (logs / f"worker.log.{start + 4 * DAY:%Y-%m-%d}").read_bytes() == b"two\n"


def test_a_log_put_away_for_its_size_goes_when_its_last_line_is_too_old(tmp_path: Path) -> None:
    put_away = tmp_path / "worker.log.old"
    put_away.write_bytes(b"one\n")
    assert turn_logs(tmp_path, now(), now() - DAY) == 0
    assert turn_logs(tmp_path, now(), now() + DAY) == 1 and not put_away.exists()


async def test_goes_the_round_every_hour_and_waits_for_a_ledger_that_is_away(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: Iterator[Tidied | Exception] = iter(
        [LedgerUnavailable("away"), OSError("no space left"), Tidied(), KeyError("the end")]
    )
    clock = TurnedClock()
    rounds = Janitor(ledger, Settings(data_dir=tmp_path), clock)

    async def tidy(_: object) -> Tidied:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(rounds, "tidy", tidy)
    with pytest.raises(KeyError):
        await rounds.run()
    assert clock.slept == [3600.0] * 3


def test_topics_are_made_with_a_retention() -> None:
    kafka = KafkaSettings(topics_days=3, dead_letters_days=10)
    assert {role: retention_days(kafka, role) for role in TopicRole} == {
        **dict.fromkeys(TopicRole, 3), TopicRole.DEAD_LETTERS: 10,
    }  # fmt: skip


def test_texts_can_not_outlive_their_case() -> None:
    with pytest.raises(ValueError, match="cases_days is less than posts_days"):
        RetentionSettings(posts_days=30, cases_days=10)


async def test_the_longest_periods_that_can_be_set_are_kept_to(ledger: Ledger, tmp_path: Path) -> None:
    await dismissed(ledger)
    longest = 36_500
    janitor = keeper(ledger, tmp_path, posts_days=longest, cases_days=longest, logs_days=longest)
    assert await janitor.tidy(now()) == Tidied()
    assert (await janitor.tidy(now() + DAY * (longest + 1))).pruned == 1


@pytest.mark.parametrize(("cases_days", "warnings"), [(7, 1), (8, 0)])
async def test_a_case_that_is_kept_no_longer_than_its_flag_is_warned_about(
    ledger: Ledger, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch,
    cases_days: int, warnings: int,
) -> None:  # fmt: skip
    rounds = keeper(ledger, tmp_path, cases_days=cases_days)
    monkeypatch.setattr(rounds, "tidy", AsyncMock(side_effect=KeyError))
    with pytest.raises(KeyError):
        await rounds.run()
    assert caplog.text.count("a topic that is read again would bring them back") == warnings
