"""Broker addresses: every form that Kafka clients take, brought to one."""

from __future__ import annotations

import re
from ipaddress import IPv6Address

DEFAULT_PORT = 9092
_ADDRESS = re.compile(r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+)\]|(?P<host>[\w.-]+))(?::(?P<port>\d{1,5}))?", re.ASCII)


def canonical(bootstrap: str) -> str:
    """Return comma-separated addresses as `host:port` or `[IPv6]:port` each. Raises ValueError if one is unusable."""
    addresses = [address.strip() for address in bootstrap.split(",")]
    usable = [_canonical(address, place) for place, address in enumerate(addresses, start=1) if address]
    if not usable:
        raise ValueError("names no broker; write `host:port`, several separated by commas")
    return ",".join(usable)


def _canonical(address: str, place: int) -> str:
    if _is_ipv6(address):
        return f"[{address}]:{DEFAULT_PORT}"
    match = _ADDRESS.fullmatch(address)
    port = int(match["port"] or DEFAULT_PORT) if match else 0
    if match is None or not 0 < port <= 65535 or (match["ipv6"] and not _is_ipv6(match["ipv6"])):
        # The address is not repeated, because somebody may have put a password into it.
        raise ValueError(f"its address {place} is unusable; write `host:port` without `://`, or `[IPv6 address]:port`")
    return f"[{match['ipv6']}]:{port}" if match["ipv6"] else f"{match['host']}:{port}"


def _is_ipv6(text: str) -> bool:
    try:
        return IPv6Address(text).scope_id is None
    except ValueError:
        return False
