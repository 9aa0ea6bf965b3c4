"""The HTTP gateway for flags: `POST /v1/flags`, and `/healthz`, `/readyz`, `/metrics`."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

from aiohttp import web

from core.domain import FlaggedPost, Role
from core.errors import BadInput, BrokerUnavailable, MessageTooLarge, TooManyRequests
from core.settings import GatewaySettings, KafkaSettings
from core.tokens import Caller, TokenTable
from ledger import Ledger
from stream import metrics
from stream.health import LedgerProbe, alive, broker_complaint, metrics_page, readiness
from stream.messages import encode, validated
from stream.producer import Producer
from stream.topics import Topics

log = logging.getLogger(__name__)

RETRY_AFTER_S = 5
FLAGGERS: tuple[Role, ...] = ("platform", "reviewer", "lead", "admin")
METRICS_READERS: tuple[Role, ...] = ("monitor", "lead", "admin")

_LINE = re.compile(r"[^\n]+")
T = TypeVar("T")


class _Refused(Exception):
    """A request that gets an error response in the desk's format: a code for programs, a plain message for people."""

    def __init__(self, status: int, code: str, message: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        headers = None if retry_after_s is None else {"Retry-After": str(retry_after_s)}
        self.response = web.json_response({"error": code, "message": message}, status=status, headers=headers)


class Gateway:
    """The HTTP routes that accept flags; a request is answered once the broker has acknowledged them."""

    def __init__(
        self, producer: Producer, ledger: Ledger, tokens: TokenTable, settings: GatewaySettings, kafka: KafkaSettings
    ) -> None:
        self._producer = producer
        self._ledger = LedgerProbe(ledger)
        self._tokens = tokens
        self._settings = settings
        self._kafka = kafka

    def add_to(self, app: web.Application) -> None:
        """Add the route for flags to an application."""
        app.router.add_post("/v1/flags", self.flags)

    def add_health_to(self, app: web.Application) -> None:
        """Add the health and metrics routes, which every process has; only the metrics need a token."""
        app.router.add_get("/healthz", alive)
        app.router.add_get("/readyz", self.readyz)
        app.router.add_get("/metrics", self.metrics)

    async def flags(self, request: web.Request) -> web.Response:
        """Accept one flag, an array, or NDJSON.

        A 202 response lists the rejected items; all others were accepted. After a 503, none counts as accepted.
        """
        try:
            caller = self._caller(request, *FLAGGERS)
            items = await self._items(request)
            rejected = await self._accept(items, caller)
        except _Refused as refusal:
            return refusal.response
        accepted = len(items) - len(rejected)
        metrics.FLAGS_ACCEPTED.inc(accepted)
        metrics.FLAGS_REJECTED.inc(len(rejected))
        status = 400 if rejected and len(items) == 1 else 202
        complaints = [{"index": index, "error": error} for index, error in sorted(rejected.items())]
        return web.json_response({"accepted": accepted, "rejected": complaints}, status=status)

    def _caller(self, request: web.Request, *roles: Role) -> Caller:
        """Return the caller. Raises _Refused unless they have one of the roles."""
        try:
            caller = self._tokens.caller(request.headers.get("Authorization"), request.remote or "")
        except TooManyRequests as error:
            raise _Refused(429, "too_many_requests", str(error), retry_after_s=error.wait_s) from error
        if caller is None:
            raise _Refused(401, "unauthenticated", "This needs a bearer token: `Authorization: Bearer …`.")
        if caller.role not in roles:
            message = f"The token of {caller.name} is a {caller.role}'s and may not do this."
            raise _Refused(403, "forbidden", message)
        return caller

    async def _items(self, request: web.Request) -> list[Any]:
        """Return a request's items, not yet validated. Raises _Refused if they are too many, too large or not JSON."""
        limit, most = self._settings.max_body_bytes, self._settings.max_batch
        try:
            return parse(await self._body(request), most)
        except BadInput as error:
            raise _Refused(400, "bad_input", str(error)) from error
        except web.HTTPRequestEntityTooLarge as error:
            message = f"The body is over {limit:,} bytes; send fewer posts at once."
            raise _Refused(413, "too_large", message) from error

    async def _accept(self, items: list[Any], caller: Caller) -> dict[int, str]:
        """Send the valid posts; return index -> error for the others. Raises _Refused if the broker is unavailable."""
        posts, rejected = validate(items)
        for index in [index for index, post in posts.items() if not may_flag(caller, post)]:
            del posts[index]
            rejected[index] = f"this token may flag posts of {', '.join(caller.platforms)} alone"
        try:
            return rejected | await self._send(posts)
        except BrokerUnavailable as error:
            log.warning("%s", error)
            message = "The broker is away; no post of this request counts as accepted. Send it again later."
            raise _Refused(503, "unavailable", message, retry_after_s=RETRY_AFTER_S) from error

    async def _send(self, posts: Mapping[int, FlaggedPost]) -> dict[int, str]:
        """Send posts; return index -> error for those too large for the broker. Raises BrokerUnavailable."""
        messages = [(post.key, encode(post)) for post in posts.values()]
        try:
            await self._producer.send_all(Topics(self._kafka.prefix).flags, messages)
        except MessageTooLarge as error:
            log.warning("%s", error)
            indexes = list(posts)
            return {indexes[place]: str(error) for place in error.places}
        return {}

    async def _body(self, request: web.Request) -> bytes:
        limit = self._settings.max_body_bytes
        if (request.content_length or 0) > limit:
            raise web.HTTPRequestEntityTooLarge(max_size=limit, actual_size=request.content_length or 0)
        body = bytearray()
        async for chunk in request.content.iter_chunked(65536):
            body += chunk
            if len(body) > limit:
                raise web.HTTPRequestEntityTooLarge(max_size=limit, actual_size=len(body))
        return bytes(body)

    async def readyz(self, request: web.Request) -> web.Response:
        """Report whether the broker and the ledger can be reached, and if not, which."""
        broker, ledger = await asyncio.gather(broker_complaint(self._kafka), self._ledger.complaint())
        return readiness(broker=broker, ledger=ledger)

    async def metrics(self, request: web.Request) -> web.Response:
        """Return the Prometheus metrics; they need a token because they show the numbers of cases and decisions."""
        try:
            self._caller(request, *METRICS_READERS)
        except _Refused as refusal:
            return refusal.response
        return metrics_page()


def may_flag(caller: Caller, post: FlaggedPost) -> bool:
    """Tell whether the caller may flag posts of this post's platform."""
    return not caller.platforms or post.platform in caller.platforms


def parse(body: bytes, most: int) -> list[Any]:
    """Return the items in a body: one object, an array, or NDJSON. Raises BadInput, or _Refused for over `most` items.

    An invalid line of NDJSON becomes a BadInput in its place, so that the other lines can still be accepted.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"The body is not UTF-8 (byte {error.start}).") from error
    if not text.strip():
        raise BadInput("The body is empty; send one flag, an array of flags, or NDJSON.")
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = list(islice(_lines(text), most + 1))
        if len(lines) < 2:
            raise BadInput(f"The body is not JSON: {error}.") from error
        return [_line(line) for line in _no_more_than(most, lines)]
    return _no_more_than(most, whole) if isinstance(whole, list) else [whole]


def _no_more_than(most: int, items: list[T]) -> list[T]:
    if len(items) > most:
        raise _Refused(413, "too_large", f"More than {most:,} posts at once; send them in parts.")
    return items


def _lines(text: str) -> Iterator[str]:
    # Only \n ends a line of NDJSON; `splitlines` would also break texts at U+2028, U+2029 and U+0085.
    return (line[0] for line in _LINE.finditer(text) if not line[0].isspace())


def _line(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return BadInput(f"not JSON: {error}")


def validate(items: list[Any]) -> tuple[dict[int, FlaggedPost], dict[int, str]]:
    """Return index -> post for the valid items, and index -> error for the others."""
    posts, rejected = {}, {}
    for index, item in enumerate(items):
        try:
            if isinstance(item, BadInput):
                raise item
            posts[index] = validated(item, FlaggedPost)
        except BadInput as error:
            rejected[index] = str(error)
    return posts, rejected
