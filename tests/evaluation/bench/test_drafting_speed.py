"""What the table of strategies says, and that the papers' pipeline asks for one thing at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from core.domain import StrategyName
from evaluation.bench.drafting_speed import SEQUENTIAL, Cost, OneByOne, Way, table
from models.chat import Completion, Message
from tests.models.scripted_chat import ScriptedChat


class Counting(ScriptedChat):
    """A scripted model that counts how many requests it has at once."""

    at_once = most = 0

    async def complete(self, messages: Sequence[Message], **asked: Any) -> list[Completion]:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return await super().complete(messages, **asked)


async def test_the_papers_pipeline_asks_one_thing_at_a_time() -> None:
    chat = Counting("Yes.")
    asking = OneByOne(chat)
    await asyncio.gather(*(asking.complete([Message("user", "?")], max_tokens=5) for _ in range(3)))
    assert (chat.most, len(chat.asked)) == (1, 3)


def test_each_way_is_a_multiple_of_the_papers() -> None:
    locked = Way("locked", StrategyName.LOCKED, 1)
    costs = [Cost(SEQUENTIAL, 4, 1, 60, 15, 500, 300, 0.5), Cost(locked, 4, 4, 15, 3.6, 150, 100, 0.5)]
    lines = table(costs).splitlines()
    assert lines[2].split("|")[2:5] == [" 4.0 ", " 1.0 ", " 15.0 "]
    assert lines[3].split("|")[1:] == [
        " locked ", " 16.0 ", " 4.0 ", " 3.6 ", " 150 ", " 100 ", " 4/4 ", " 0.5 ", "",
    ]  # fmt: skip
