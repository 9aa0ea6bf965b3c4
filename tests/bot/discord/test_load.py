from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

from core.domain import CaseState
from core.settings import CareSettings
from tests.bot.discord.look import cards
from tests.bot.samples import add_pending, post

AT_ONCE = 200


async def test_200_presses_at_once_are_all_acknowledged_in_time(
    house: Any, platform: Any, start: Any, capsys: Any
) -> None:
    platform.world.limit = 1_000
    keys = [await add_pending(house.ledger, post(number)) for number in range(AT_ONCE)]
    await start(care=CareSettings(surge_cards=AT_ONCE))
    where = platform.general
    await platform.world.until(lambda: len(cards(platform.world.in_channel(where))) == AT_ONCE, 60)
    ana = platform.person("ana")
    began = time.monotonic()
    pressed = [await ana.press_only(card, "Approve") for card in platform.world.in_channel(where)]
    await asyncio.gather(*(asyncio.wait_for(exchange.answered.wait(), 20) for exchange in pressed))
    slowest = max(exchange.latency_s for exchange in pressed)

    async def decided() -> bool:
        counts: dict[CaseState, int] = await house.ledger.cases.counts()
        return counts[CaseState.APPROVED] == len(keys)

    while not await decided():
        await asyncio.sleep(0.05)
    took = time.monotonic() - began
    with capsys.disabled():
        sys.stdout.write(f"\n{AT_ONCE} presses at once: slowest ack {slowest:.2f} s, all decided in {took:.1f} s\n")
    assert slowest < 3


async def test_forms_open_in_time_while_200_presses_come_in(house: Any, platform: Any, start: Any) -> None:
    platform.world.limit = 1_000
    for number in range(20):
        await add_pending(house.ledger, post(number))
    await start(care=CareSettings(surge_cards=AT_ONCE))
    where = platform.general
    await platform.world.until(lambda: len(cards(platform.world.in_channel(where))) == 20, 30)
    ana = platform.person("ana")
    hung = platform.world.in_channel(where)
    opened = [await ana.press_only(hung[index % 20], "Edit") for index in range(AT_ONCE)]
    await asyncio.gather(*(asyncio.wait_for(exchange.answered.wait(), 20) for exchange in opened))
    assert all(exchange.modal["components"][0]["component"]["value"] for exchange in opened)
