from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import pytest

from core.domain import CaseState
from core.settings import CareSettings
from tests.bot.discord.look import cards
from tests.bot.discord.world import ACK_S, PATIENCE_S
from tests.bot.samples import add_pending, post

LOAD = pytest.mark.parametrize(
    ("at_once", "in_time_s"), [(20, PATIENCE_S), pytest.param(200, ACK_S, marks=pytest.mark.slow)]
)
"""Few presses with all the time they need, and in `make test-slow` two hundred within what Discord grants."""

BURSTS = 3
"""How often a burst is tried until it is in time; a machine that stalls for a moment says nothing about the bot."""


@LOAD
async def test_many_presses_at_once_are_all_acknowledged_in_time(
    house: Any, platform: Any, start: Any, capsys: Any, at_once: int, in_time_s: float
) -> None:
    platform.world.limit = 1_000
    platform.world.ack_s = PATIENCE_S
    await start(care=CareSettings(surge_cards=at_once * BURSTS))
    slowest = float("inf")
    for burst in range(BURSTS):
        if slowest < in_time_s:
            break
        slowest, decided_s = await _burst(house, platform, at_once, burst * at_once)
        with capsys.disabled():
            sys.stdout.write(
                f"\n{at_once} presses at once: slowest ack {slowest:.2f} s, all decided in {decided_s:.1f} s\n"
            )
    assert slowest < in_time_s


async def _burst(house: Any, platform: Any, at_once: int, decided: int) -> tuple[float, float]:
    """Press *Approve* on new cards; return the seconds to the slowest acknowledgement and to the last decision."""
    for number in range(at_once):
        await add_pending(house.ledger, post(decided + number))
    where = platform.general
    total = decided + at_once
    await platform.world.until(lambda: len(cards(platform.world.in_channel(where))) == total, 120)
    ana = platform.person("ana")
    began = time.monotonic()
    pressed = [await ana.press_only(card, "Approve") for card in platform.world.in_channel(where)[decided:]]
    await asyncio.gather(*(asyncio.wait_for(exchange.answered.wait(), PATIENCE_S) for exchange in pressed))

    async def all_decided() -> bool:
        counts: dict[CaseState, int] = await house.ledger.cases.counts()
        return counts[CaseState.APPROVED] == total

    while not await all_decided():
        await asyncio.sleep(0.05)
    return max(exchange.latency_s for exchange in pressed), time.monotonic() - began


@LOAD
async def test_forms_open_in_time_while_many_presses_come_in(
    house: Any, platform: Any, start: Any, at_once: int, in_time_s: float
) -> None:
    platform.world.limit = 1_000
    platform.world.ack_s = in_time_s
    for number in range(20):
        await add_pending(house.ledger, post(number))
    await start(care=CareSettings(surge_cards=at_once))
    where = platform.general
    await platform.world.until(lambda: len(cards(platform.world.in_channel(where))) == 20, PATIENCE_S)
    ana = platform.person("ana")
    posted = platform.world.in_channel(where)
    opened = [await ana.press_only(posted[index % 20], "Edit") for index in range(at_once)]
    await asyncio.gather(*(asyncio.wait_for(exchange.answered.wait(), PATIENCE_S) for exchange in opened))
    assert all(exchange.modal["components"][0]["component"]["value"] for exchange in opened)
