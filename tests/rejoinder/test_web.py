from __future__ import annotations

import asyncio
from pathlib import Path
from unittest.mock import create_autospec

import pytest

from bot.changes import Changes
from core.errors import BadSettings
from core.settings import DeskSettings, Settings
from ledger import Ledger
from rejoinder.web import web_process
from stream.producer import Producer
from tests.bot.conftest import TOKENS
from tests.new_ledger import KEY, new_sqlite


async def test_a_change_feed_that_fails_ends_the_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else pages would show old news, and nobody would know before the next stop."""
    monkeypatch.setattr(Changes, "run", create_autospec(Changes.run, side_effect=BadSettings("the feed is torn")))
    settings = Settings(data_dir=tmp_path, desk=DeskSettings(tokens=TOKENS, port=0))
    ledger = await Ledger.open(new_sqlite(tmp_path), KEY)
    with pytest.raises(BadSettings, match="the feed is torn"):
        async with web_process(settings, ledger, Producer(settings.kafka), gateway=False, desk=True):
            await asyncio.Event().wait()
    await ledger.close()
