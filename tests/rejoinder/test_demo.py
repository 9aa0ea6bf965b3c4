"""The end of the demo."""

from __future__ import annotations

import logging
from typing import Any, cast

import pytest

from core.settings import KafkaSettings, Settings
from rejoinder.demo import drain
from tests.ports import unused_port


async def test_flags_that_are_lost_with_the_broker_are_told_of(caplog: pytest.LogCaptureFixture) -> None:
    kafka = KafkaSettings(bootstrap=f"127.0.0.1:{unused_port()}", timeout_s=5)
    with caplog.at_level(logging.WARNING, "rejoinder"):
        await drain(cast("Any", None), Settings(kafka=kafka))
    assert "flags that were not in the ledger yet are lost" in caplog.text
