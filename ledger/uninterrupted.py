"""Let a ledger call finish even if its caller is cancelled."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

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
    """Run a part's method to its end on its database before a cancellation reaches the caller."""

    @wraps(call)
    async def to_the_end(self: Of, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._database.to_the_end(call(self, *args, **kwargs))

    return to_the_end
