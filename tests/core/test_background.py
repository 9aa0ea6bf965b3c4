from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from core.background import running
from core.errors import BadSettings


async def for_ever() -> None:
    await asyncio.Event().wait()


def failing_with(error: Exception) -> Callable[[], Awaitable[None]]:
    async def work() -> None:
        async with running([for_ever(), _raise(error)]):
            await for_ever()

    return work


async def _raise(error: Exception) -> None:
    raise error


async def test_jobs_end_with_the_body() -> None:
    ended = asyncio.Event()

    async def job() -> None:
        try:
            await for_ever()
        finally:
            ended.set()

    async with running([job()]):
        await asyncio.sleep(0)
    assert ended.is_set()


async def test_a_job_that_fails_is_logged_and_ends_the_body(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(asyncio.CancelledError):
        await asyncio.create_task(failing_with(ZeroDivisionError("a fault"))())
    assert "A background job failed: ZeroDivisionError('a fault')" in caplog.text


async def test_an_error_of_ours_ends_the_body_in_its_own_words(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(BadSettings, match="the token was revoked"):
        await asyncio.create_task(failing_with(BadSettings("the token was revoked"))())
    assert "the token was revoked" in caplog.text and "Traceback" not in caplog.text
