from __future__ import annotations

import asyncio
from pathlib import Path
from unittest.mock import create_autospec

import aiohttp
import pytest
from aiohttp import web

from bot.changes import Changes
from core.errors import BadSettings
from core.settings import DeskSettings, Settings
from ledger import Ledger
from rejoinder.starting import answer_while_starting
from rejoinder.web import serving, web_process
from stream.producer import Producer
from tests.bot.conftest import TOKENS
from tests.new_ledger import KEY, new_sqlite
from tests.ports import unused_port


async def test_a_change_feed_that_fails_ends_the_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else pages would show old news, and nobody would know before the next stop."""
    monkeypatch.setattr(Changes, "run", create_autospec(Changes.run, side_effect=BadSettings("the feed is torn")))
    settings = Settings(data_dir=tmp_path, desk=DeskSettings(tokens=TOKENS, port=0))
    ledger = await Ledger.open(new_sqlite(tmp_path), KEY)
    with pytest.raises(BadSettings, match="the feed is torn"):
        async with web_process(settings, ledger, Producer(settings.kafka), gateway=False, desk=True):
            await asyncio.Event().wait()
    await ledger.close()


async def test_who_asks_is_answered_until_all_is_loaded_and_then_served(tmp_path: Path) -> None:
    port, seen = unused_port(), []

    async def status() -> int:
        async with aiohttp.ClientSession() as http, http.get(f"http://127.0.0.1:{port}/v1/cases") as answer:
            return answer.status

    async with answer_while_starting("127.0.0.1", port) as leave:

        async def before_serving() -> None:
            seen.append(await status())
            await leave()

        settings = Settings(data_dir=tmp_path, desk=DeskSettings(tokens=TOKENS, host="127.0.0.1", port=port))
        ledger = await Ledger.open(new_sqlite(tmp_path), KEY)
        parts = web_process(
            settings, ledger, Producer(settings.kafka), gateway=True, desk=False, before_serving=before_serving
        )
        async with parts:
            seen.append(await status())
        await ledger.close()
    assert seen == [503, 404]


async def test_an_address_that_is_not_this_machines_is_named() -> None:
    with pytest.raises(BadSettings, match=r"192\.0\.2\.1"):
        async with serving(web.Application(), "192.0.2.1", 0):
            raise AssertionError("it was served")
