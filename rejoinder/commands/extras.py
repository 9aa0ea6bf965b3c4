"""Say how to get what an optional part of Rejoinder needs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import BadSettings
from core.rooms import ROOMS


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Turn a missing package inside the block into BadSettings that says how to install the extra it is in."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if not package or package in ROOMS:
            raise
        # With the interpreter that runs: a `pip` in the user's path would install into another environment.
        raise BadSettings(
            f"This command needs the package {package}, which is not installed. "
            f"Install it: {sys.executable} -m pip install 'rejoinder[{extra}]'"
        ) from error
