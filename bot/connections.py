"""Clients behind proxies, and time limits for slow connections; used by every process that serves HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Literal

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

Network = IPv4Network | IPv6Network
ProxyHeader = Literal["X-Forwarded-For", "Forwarded"]

IDLE_S = 75.0
"""Seconds for a complete request head, and for an idle connection; longer than proxies keep one open."""
BODY_S = 30.0
"""Seconds for a complete request body."""


def behind_proxies(trusted: Sequence[Network], header: ProxyHeader) -> Middleware:
    """Return a middleware that gives handlers the client's address and scheme as trusted proxies report them.

    Only one header is read, because a proxy that writes one of them passes the other on as the client sent it. Of its
    addresses, the last that does not belong to a trusted proxy is the client's; those before it may be forged.
    """

    @web.middleware
    async def see_through(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not _trusts(trusted, request.remote or ""):
            return await handler(request)
        address, scheme = request.remote or "", request.scheme
        for hop, hop_scheme in reversed(_hops(request, header)):
            address, scheme = hop, hop_scheme or scheme
            if not _trusts(trusted, hop):
                break
        return await handler(request.clone(remote=address, scheme=scheme))

    return see_through


@web.middleware
async def hurried_bodies(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer 408 if the body of a request is not complete in time."""
    if not request.body_exists:
        return await handler(request)
    late = False

    def give_up() -> None:
        nonlocal late
        late = not request.content.is_eof()
        if late:
            request.content.set_exception(TimeoutError())

    timer = asyncio.get_running_loop().call_later(BODY_S, give_up)
    try:
        return await handler(request)
    except TimeoutError:
        if not late:
            raise
        message = f"The body was not here after {BODY_S:.0f} s; send it again, in smaller parts."
        return web.json_response({"error": "too_slow", "message": message}, status=408)
    finally:
        timer.cancel()


def _hops(request: web.Request, header: ProxyHeader) -> list[tuple[str, str]]:
    """Return the addresses that proxies have seen, nearest last, each with the scheme, if given."""
    if header == "Forwarded":
        return [(_bare(hop.get("for", "")), hop.get("proto", "")) for hop in request.forwarded]
    scheme = request.headers.get("X-Forwarded-Proto", "").rpartition(",")[2].strip()
    listed = ",".join(request.headers.getall(header, ()))
    return [(_bare(hop), scheme) for hop in listed.split(",") if hop.strip()]


def _bare(hop: str) -> str:
    """Return an address without quotes, brackets and port."""
    hop = hop.strip().strip('"')
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


def _trusts(trusted: Sequence[Network], address: str) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in trusted)
