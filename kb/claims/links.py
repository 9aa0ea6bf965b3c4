"""Look up the addresses of facts, since a source that has moved can't be cited."""

from __future__ import annotations

import asyncio

import aiohttp

from kb.claims.loading import ClaimFiles

AT_ONCE = 8
PATIENCE_S = 20
_THERE = range(200, 400)
_CHALLENGED = {401, 403, 405, 429}
"""Answers of sites that turn scripts away; they don't mean that the page is gone."""


async def dead_links(files: ClaimFiles) -> list[str]:
    """Return a complaint for each address of a fact that does not answer or reports that there is no page.

    Both are looked up: where the fact can be read, and where its words were seen.
    """
    turns = asyncio.Semaphore(AT_ONCE)
    timeout = aiohttp.ClientTimeout(total=PATIENCE_S)
    async with aiohttp.ClientSession(timeout=timeout) as session:

        async def look_up(name: str, url: str) -> str:
            async with turns:
                complaint = await _complaint(session, url)
            return f"{files.places[name]}: {name}: {complaint}" if complaint else ""

        addresses = [
            (fact.id, url) for fact in files.facts.values() for url in dict.fromkeys((fact.url, fact.seen_at)) if url
        ]
        complaints = await asyncio.gather(*(look_up(name, url) for name, url in addresses))
    return [complaint for complaint in complaints if complaint]


async def _complaint(session: aiohttp.ClientSession, url: str) -> str:
    try:
        async with session.get(url) as response:
            there = response.status in _THERE or response.status in _CHALLENGED
            return "" if there else f"{url} answers {response.status}; look for its new address"
    except (aiohttp.ClientError, TimeoutError) as error:
        return f"{url} can't be reached: {error or type(error).__name__}; try again, or look for its new address"
