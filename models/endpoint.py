"""Exchange JSON with one OpenAI-compatible HTTP endpoint: retries, errors, and a key that never shows.

How answers are treated:

    connection refused or cut, 429, 5xx    tried again, waiting longer or as Retry-After says; then ModelUnavailable
    no answer in time                      ModelUnavailable at once: the time for an answer is spent
    any other status, or no JSON object    ModelRefused at once: asking again would not help
"""

from __future__ import annotations

from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import aiohttp
from pydantic import SecretStr
from yarl import URL

from core.errors import BadSettings, ModelRefused, ModelUnavailable
from core.retry import SYSTEM_CLOCK, Backoff, Clock, Retry

BACKOFF = Backoff(first_s=0.25, longest_s=30.0, jitter=0.25)
CONNECT_S = 10.0


class Endpoint:
    """A connection pool for `base_url` (`http://…/v1`); use it as an async context manager, or `close()` it.

    Raises BadSettings if `base_url` is not an absolute URL.
    """

    def __init__(
        self,
        base_url: str,
        api_key: SecretStr | None,
        timeout_s: float,
        attempts: int,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._base = URL(base_url.rstrip("/"))
        if not self._base.host:
            raise BadSettings(f"{base_url!r} is no base URL of a model server; expected http://HOST:PORT/v1")
        if api_key is not None:  # aiohttp accepts credentials from one place only
            self._base = self._base.with_user(None)
        self._key = api_key
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._clock = clock
        self._session: aiohttp.ClientSession | None = None
        self.name = str(self._base.with_user(None))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; safe to call twice."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def post(self, path: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Send `payload` to `base_url/path` and return the JSON object in the answer.

        Raises ModelUnavailable or ModelRefused as in the module's table. Cancellation closes the HTTP request;
        llama.cpp notices and frees the slot.
        """
        retry = Retry(BACKOFF, self._clock, self._attempts)
        while True:
            try:
                return await self._post_once(path, payload)
            except _TryAgain as failure:
                if retry.is_last_attempt:
                    raise ModelUnavailable(
                        f"The model server at {self.name} {failure} ({retry.attempt} tries). "
                        "Check that it runs and that the endpoint is right."
                    ) from None
                await retry.wait(failure.wait_s)

    async def healthy(self) -> bool:
        """Tell whether the server is up and has its model loaded; never raises for a server that is away.

        llama.cpp and vLLM answer `/health` beside `/v1`; servers without it are asked for `/v1/models`.
        """
        status = await self._status(self._root / "health")
        if status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.UNAUTHORIZED):
            status = await self._status(self._base / "models")
        return status == HTTPStatus.OK

    async def responds(self, within_s: float) -> bool:
        """Tell whether the server still makes progress; never raises.

        llama.cpp answers `/slots` from its computing loop, without needing a slot. An answer from a server without
        `/slots` shows only that it accepts requests. A probe that computes would wait behind other requests, and look
        like a hang.
        """
        return await self._status(self._root / "slots", within_s) is not None

    @property
    def _root(self) -> URL:
        return self._base.parent if self._base.name == "v1" else self._base

    async def _status(self, url: URL, within_s: float = CONNECT_S) -> int | None:
        try:
            timeout = aiohttp.ClientTimeout(total=within_s)
            async with self._open_session().get(url, timeout=timeout, allow_redirects=False) as answer:
                return answer.status
        except (aiohttp.ClientError, TimeoutError):
            return None

    async def _post_once(self, path: str, payload: dict[str, Any]) -> dict[str, Any]:
        try:
            async with self._open_session().post(self._base / path, json=payload, allow_redirects=False) as answer:
                if answer.status == HTTPStatus.TOO_MANY_REQUESTS or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                    raise _TryAgain(f"answers {answer.status}", _retry_after_s(answer.headers.get("Retry-After")))
                body = await answer.text(errors="replace")
                if answer.status != HTTPStatus.OK:
                    raise ModelRefused(
                        f"The model server at {self.name} answered {answer.status}; check its address, the model's "
                        f"name and the key in the settings. It says: {self._quote(body)}"
                    )
                return self._parsed(await answer.json(content_type=None), body)
        except TimeoutError:
            raise ModelUnavailable(
                f"The model server at {self.name} gave no answer within {self._timeout_s:.0f} s. "
                "Ask for less at once, or allow more time (timeout_s)."
            ) from None
        except (aiohttp.InvalidURL, ValueError) as error:
            kind = type(error).__name__
            raise ModelRefused(
                f"What the model server at {self.name} answered can't be read ({kind}). Check that its address in the "
                "settings is that of an OpenAI-compatible API."
            ) from None
        except aiohttp.ClientError as error:
            raise _TryAgain(f"can't be reached: {self._quote(str(error) or type(error).__name__)}", None) from None

    def _parsed(self, body: Any, text: str) -> dict[str, Any]:
        if not isinstance(body, dict):
            raise ModelRefused(
                f"The model server at {self.name} did not answer with a JSON object. Check that its address in the "
                f"settings is that of an OpenAI-compatible API. It says: {self._quote(text)}"
            )
        return body

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            key = self._key.get_secret_value() if self._key else ""
            self._session = aiohttp.ClientSession(
                headers={"Authorization": f"Bearer {key}"} if key else {},
                timeout=aiohttp.ClientTimeout(total=self._timeout_s, sock_connect=CONNECT_S),
            )
        return self._session

    def _quote(self, text: str) -> str:
        key = self._key.get_secret_value() if self._key else ""
        return " ".join((text.replace(key, "***") if key else text).split())[:300]


class _TryAgain(Exception):
    """The reason to try a request again, and after how many seconds if the server said so."""

    def __init__(self, why: str, wait_s: float | None) -> None:
        super().__init__(why)
        self.wait_s = wait_s


def _retry_after_s(header: str | None) -> float | None:
    """Return a Retry-After in seconds (RFC 9110, 10.2.3), at most our longest wait; None for any other form."""
    return min(float(header), BACKOFF.longest_s) if header and header.isascii() and header.isdigit() else None
