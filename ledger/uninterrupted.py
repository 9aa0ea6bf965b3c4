"""Let a transaction finish although its caller is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from ledger.database import Database


class Part(Protocol):
    """A part of the ledger."""

    _database: Database


Of = TypeVar("Of", bound=Part)
P = ParamSpec("P")
R = TypeVar("R")


def uninterrupted(
    call: Callable[Concatenate[Of, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Of, P], Coroutine[Any, Any, R]]:
    """Run a method of a part to its end, on its database, before a cancellation reaches the caller."""

    @wraps(call)
    async def to_the_end(self: Of, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._database.to_the_end(call(self, *args, **kwargs))

    return to_the_end


async def finished(work: asyncio.Future[R]) -> R:
    """Return what comes of `work`; a caller that is cancelled meanwhile waits until it is done."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if not work.done():
            await asyncio.wait([work])
        if not work.cancelled():
            work.exception()
        raise
