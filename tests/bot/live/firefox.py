"""Debian's Firefox, driven over its built-in WebDriver BiDi, without a separate driver."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

FIREFOX = Path(os.environ.get("FIREFOX", "/usr/bin/firefox-esr"))
LISTENS = b"WebDriver BiDi listening on "


class FirefoxPage:
    """One tab of a headless Firefox."""

    def __init__(self, line: aiohttp.ClientWebSocketResponse) -> None:
        self._line = line
        self._ids = count(1)
        self._tab = ""

    async def open(self) -> None:
        await self._call("session.new", capabilities={})
        self._tab = (await self._call("browsingContext.create", type="tab"))["context"]

    async def go(self, address: str) -> None:
        await self._call("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    async def press(self, key: str) -> None:
        keys = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        await self._call(
            "input.performActions", context=self._tab, actions=[{"type": "key", "id": "k", "actions": keys}]
        )

    async def text(self, selector: str) -> str:
        answer = await self._call(
            "script.callFunction", target={"context": self._tab}, awaitPromise=False,
            functionDeclaration="(selector) => document.querySelector(selector)?.textContent ?? ''",
            arguments=[{"type": "string", "value": selector}],
        )  # fmt: skip
        return str(answer["result"]["value"])

    async def wait_for(self, selector: str, text: str) -> None:
        """Wait until an element has a text; raises TimeoutError after a minute."""
        async with asyncio.timeout(60):
            while text not in await self.text(selector):
                await asyncio.sleep(0.05)

    async def _call(self, method: str, **params: Any) -> dict[str, Any]:
        id = next(self._ids)
        await self._line.send_json({"id": id, "method": method, "params": params})
        while (answer := await self._line.receive_json()).get("id") != id:
            continue
        if answer["type"] == "error":
            raise RuntimeError(f"{method}: {answer['message']}")
        result: dict[str, Any] = answer["result"]
        return result


@asynccontextmanager
async def firefox_page(profile: Path) -> AsyncIterator[FirefoxPage]:
    """Start Firefox with a profile of its own; yields its page."""
    process = await asyncio.create_subprocess_exec(
        FIREFOX, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        address = await _address_of(process)
        async with aiohttp.ClientSession() as session, session.ws_connect(f"{address}/session") as line:
            page = FirefoxPage(line)
            await page.open()
            yield page
    finally:
        process.terminate()
        await process.communicate()


async def _address_of(process: asyncio.subprocess.Process) -> str:
    assert process.stderr
    async with asyncio.timeout(90):
        async for words in process.stderr:
            if words.startswith(LISTENS):
                return words.removeprefix(LISTENS).decode().strip()
    raise RuntimeError("Firefox ended before it listened")
