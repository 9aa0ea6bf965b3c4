"""The platform: it sends flags to the gateway at a given rate, and repeats each until it is accepted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import aiohttp

from evaluation.load_texts import load_text
from evaluation.stress.plan import StressPlan

PLATFORM = "stress"
AGAIN_EVERY = 20
"""One batch of flags in this many is sent twice, as by a platform that did not receive the answer."""
WAIT_S = 0.5
PATIENCE_S = 60.0


@dataclass
class Flagging:
    """The flags sent, accepted and refused, by case key.

    `first_sent` and `accepted` are in seconds since the epoch, `answers_s` are the gateway's response times.
    """

    first_sent: dict[str, float] = field(default_factory=dict)
    accepted: dict[str, float] = field(default_factory=dict)
    answers_s: list[float] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    tries_again: int = 0


def posts(plan: StressPlan) -> list[dict[str, str]]:
    """Return the posts of a run; ids contain the seed, so that runs with different seeds can share a ledger."""
    return [
        {
            "platform": PLATFORM,
            "post_id": f"{plan.seed}-{number}",
            "text": load_text(number),
            "author_id": f"author-{number}",
        }
        for number in range(plan.flags)
    ]


async def flag(http: aiohttp.ClientSession, url: str, plan: StressPlan, flagging: Flagging) -> None:
    """Send all posts in batches at the plan's rate, and repeat each batch until the gateway has answered it."""
    size = max(1, int(plan.rate / 5))
    began = time.monotonic()
    pending: set[asyncio.Task[None]] = set()
    for number, batch in enumerate(_batches(posts(plan), size)):
        await asyncio.sleep(max(0.0, began + number * size / plan.rate - time.monotonic()))
        pending.add(asyncio.create_task(_send(http, url, batch, flagging)))
        if number % AGAIN_EVERY == 0:
            pending.add(asyncio.create_task(_send(http, url, batch, flagging)))
    await asyncio.gather(*pending)


def _batches(items: list[dict[str, str]], size: int) -> Iterator[list[dict[str, str]]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


async def _send(http: aiohttp.ClientSession, url: str, batch: list[dict[str, str]], flagging: Flagging) -> None:
    keys = [f"{post['platform']}/{post['post_id']}" for post in batch]
    for key in keys:
        flagging.first_sent.setdefault(key, time.time())
    while True:
        began = time.perf_counter()
        try:
            async with http.post(f"{url}/v1/flags", json=batch, timeout=aiohttp.ClientTimeout(PATIENCE_S)) as answer:
                body = await answer.json()
                if answer.status in (202, 400):
                    flagging.answers_s.append(time.perf_counter() - began)
                    refused = {keys[item["index"]]: item["error"] for item in body.get("rejected", ())}
                    flagging.refused |= refused
                    for key in set(keys) - set(refused):
                        flagging.accepted.setdefault(key, time.time())
                    return
        except (aiohttp.ClientError, TimeoutError, ValueError):
            pass
        flagging.tries_again += 1
        await asyncio.sleep(WAIT_S)
