"""Fetch over HTTP politely; the result is either a document or a named refusal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from types import TracebackType
from typing import TypeVar

import aiohttp
from multidict import CIMultiDict
from protego import Protego
from yarl import URL

from core.retry import SYSTEM_CLOCK, Clock, Retry
from kb.sources.politeness import AGENT, Host, Politeness
from kb.sources.validation import Format, Reason, Refusal, examine, recognise

T = TypeVar("T")

_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 5
_ROBOTS_BYTES = 512 * 1024
"""RFC 9309 lets a crawler stop reading after this many."""


@dataclass(frozen=True)
class Answer:
    """A body of a requested format; `url` is its address after redirects."""

    url: str
    content: bytes
    format: Format


@dataclass(frozen=True)
class _RawAnswer:
    url: URL
    status: int
    headers: CIMultiDict[str]
    content: bytes


class Client:
    """The only access to the network: one request at a time per host, robots.txt obeyed, failures retried.

    Addresses outside `domains` are never requested, wherever a record or a redirect points.
    """

    def __init__(
        self,
        domains: Collection[str],
        politeness: Politeness | None = None,
        contact: str = "",
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._domains = tuple(domains)
        self._politeness = politeness or Politeness()
        self._agent = f"{AGENT}/{version('rejoinder')}" + (f" ({contact})" if contact else "")
        self._clock = clock
        self._hosts: dict[str, Host] = {}
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Client:
        limits = aiohttp.ClientTimeout(total=self._politeness.timeout_s, connect=30)
        self._session = aiohttp.ClientSession(
            timeout=limits, headers={"User-Agent": self._agent}, cookie_jar=aiohttp.DummyCookieJar()
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def get(
        self,
        url: str,
        formats: Collection[Format],
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer | Refusal:
        """Fetch an address; try again after a pause if that may help."""
        try:
            target = URL(url).update_query(params or {})
        except ValueError as error:
            return Refusal(Reason.FOREIGN, url, f"no address: {error}")
        outcome = await self._retry(lambda: self._try(target, formats, headers or {}))
        self._host(URL(outcome.url)).count_outcome(outcome if isinstance(outcome, Refusal) else None)
        return outcome

    async def _retry(self, attempt: Callable[[], Awaitable[T | Refusal]]) -> T | Refusal:
        """Return the first outcome that is not a transient refusal, or the last one; leave a closed host alone."""
        retry = Retry(self._politeness.backoff, self._clock, self._politeness.attempts)
        while True:
            outcome = await attempt()
            if not isinstance(outcome, Refusal) or not outcome.reason.transient:
                return outcome
            is_last = retry.is_last_attempt
            # Pause after the last try, too: it is the host that needs a rest, not the address.
            host = self._host(URL(outcome.url))
            host.pause(retry.next_wait_s())
            if is_last or host.closed_refusal(outcome.url):
                return outcome

    async def _try(self, url: URL, formats: Collection[Format], headers: Mapping[str, str]) -> Answer | Refusal:
        raw = await self._follow(url, headers, self._politeness.max_bytes)
        if isinstance(raw, Refusal):
            return raw
        refusal = examine(str(raw.url), raw.status, raw.headers, raw.content, formats)
        if refusal is not None:
            return refusal
        form = recognise(raw.content)
        assert form is not None
        return Answer(str(raw.url), raw.content, form)

    async def _follow(
        self, url: URL, headers: Mapping[str, str], limit: int, *, ruled: bool = True
    ) -> _RawAnswer | Refusal:
        for _ in range(_MOST_REDIRECTS + 1):
            if refusal := self._outside_domains(url) or (await self._refusal_by_rules(url) if ruled else None):
                return refusal
            raw = await self._request(url, headers, limit)
            if isinstance(raw, Refusal) or raw.status not in _REDIRECTS or "location" not in raw.headers:
                return raw
            try:
                url = url.join(URL(raw.headers["location"]))
            except ValueError:
                return Refusal(Reason.FOREIGN, str(url), "it redirects to something that is no address")
        return Refusal(Reason.UNREADABLE, str(url), f"more than {_MOST_REDIRECTS} redirects")

    def _outside_domains(self, url: URL) -> Refusal | None:
        name = url.host or ""
        if url.scheme in ("http", "https") and any(
            name == domain or name.endswith(f".{domain}") for domain in self._domains
        ):
            return None
        return Refusal(Reason.FOREIGN, str(url), f"not below {', '.join(self._domains)}")

    async def _refusal_by_rules(self, url: URL) -> Refusal | None:
        host = self._host(url)
        async with host.reading_rules:
            if host.rules is None:
                host.set_rules(await self._fetch_rules(url))
        return host.refusal_of(str(url))

    async def _fetch_rules(self, url: URL) -> Protego | Refusal:
        """Read robots.txt by RFC 9309: a missing file allows everything, one that can't be read forbids everything."""
        place = url.origin() / "robots.txt"
        raw = await self._retry(lambda: self._try_rules(place))
        if isinstance(raw, Refusal):
            return raw
        challenge = examine(str(place), raw.status, raw.headers, raw.content, set(Format))
        if challenge is not None and challenge.reason is Reason.CHALLENGE:
            return challenge
        return Protego.parse(raw.content.decode("utf-8", "replace") if raw.status == 200 else "")

    async def _try_rules(self, place: URL) -> _RawAnswer | Refusal:
        raw = await self._follow(place, {}, _ROBOTS_BYTES, ruled=False)
        if isinstance(raw, _RawAnswer) and (raw.status >= 500 or raw.status == 429):
            return Refusal(Reason.BUSY, str(place), f"status {raw.status}")
        return raw

    async def _request(self, url: URL, headers: Mapping[str, str], limit: int) -> _RawAnswer | Refusal:
        if self._session is None:
            raise RuntimeError("The client is used outside its `async with`.")
        host = self._host(url)
        try:
            async with host.wait_turn():
                # Another answer may have closed the host while this request waited.
                if refusal := host.closed_refusal(str(url)):
                    return refusal
                async with self._session.get(url, headers=headers, allow_redirects=False) as response:
                    host.retry_after(_retry_after(response.headers.get("retry-after", "")))
                    content = await _read(response, limit)
                    if content is None:
                        return Refusal(Reason.TOO_LARGE, str(url), f"more than {limit:,} bytes")
                    return _RawAnswer(url, response.status, CIMultiDict(response.headers), content)
        except TimeoutError:
            return Refusal(Reason.TIMEOUT, str(url), f"no whole answer within {self._politeness.timeout_s:.0f} s")
        except aiohttp.ClientPayloadError as error:
            return Refusal(Reason.TRUNCATED, str(url), f"the answer broke off: {error}")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Refusal(Reason.UNREACHABLE, str(url), f"{type(error).__name__}: {error}")

    def _host(self, url: URL) -> Host:
        name = url.authority
        if name not in self._hosts:
            self._hosts[name] = Host(name, self._politeness, self._clock)
        return self._hosts[name]


async def _read(response: aiohttp.ClientResponse, limit: int) -> bytes | None:
    if (response.content_length or 0) > limit:
        response.close()
        return None
    content = bytearray()
    async for chunk in response.content.iter_chunked(64 * 1024):
        content += chunk
        if len(content) > limit:
            response.close()
            return None
    return bytes(content)


def _retry_after(value: str) -> float:
    """Return the seconds of a Retry-After header, given in seconds or as a date (RFC 9110); 0 if it gives none."""
    if value.isascii() and value.strip().isdigit():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())
