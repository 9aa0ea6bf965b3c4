"""Let a transaction finish although its caller is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def uninterrupted(call: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
    """Run `call` to its end before a cancellation reaches the caller.

    A SQLite statement runs in the driver's thread and can't be called back. Cancelled while it waits there, a
    transaction was seen to leave a connection behind that held the write lock, and every later writer failed.
    """

    @wraps(call)
    async def to_the_end(*args: P.args, **kwargs: P.kwargs) -> R:
        transaction = asyncio.create_task(call(*args, **kwargs))
        try:
            return await asyncio.shield(transaction)
        except asyncio.CancelledError:
            if not transaction.done():
                await asyncio.wait([transaction])
            if not transaction.cancelled():
                transaction.exception()
            raise

    return to_the_end
