from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import pytest

from core.background import running
from core.errors import BadSettings


async def for_ever() -> None:
    await asyncio.Event().wait()


async def beside_a_job_that_fails(error: Exception) -> None:
    async def fail() -> None:
        raise error

    async with running([for_ever(), fail()]):
        await for_ever()


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
        await asyncio.create_task(beside_a_job_that_fails(ZeroDivisionError("a fault")))
    assert "A background job failed: ZeroDivisionError('a fault')" in caplog.text


async def test_an_error_of_ours_ends_the_body_in_its_own_words(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(BadSettings, match="the token was revoked"):
        await asyncio.create_task(beside_a_job_that_fails(BadSettings("the token was revoked")))
    assert "the token was revoked" in caplog.text and "Traceback" not in caplog.text


async def ends_as_cancelled() -> None:
    lost = asyncio.get_running_loop().create_future()
    lost.cancel()
    await lost


async def returns() -> None:
    return


@pytest.mark.parametrize(("job", "how"), [(ends_as_cancelled, "was cancelled"), (returns, "returned")])
async def test_a_job_that_ends_before_the_body_has_failed(
    job: Callable[[], Coroutine[Any, Any, None]], how: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def beside_it() -> None:
        async with running([for_ever(), job()]):
            await for_ever()

    async with asyncio.timeout(60):
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(beside_it())
    assert f"A background job failed: {job.__name__} {how}" in caplog.text


async def test_jobs_that_end_because_the_body_does_have_not_failed(caplog: pytest.LogCaptureFixture) -> None:
    async def ends_in_peace() -> None:
        with suppress(asyncio.CancelledError):
            await for_ever()

    async with running([for_ever(), ends_in_peace()]):
        await asyncio.sleep(0)
    assert not caplog.records
