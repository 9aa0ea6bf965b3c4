"""Hints on how to install the packages that an optional feature needs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import BadSettings
from core.rooms import ROOMS


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Turn a missing package in the body into BadSettings that explains how to install the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if not package or package in ROOMS:
            raise
        # Uses the running interpreter, because a `pip` on the user's path might install into another environment.
        raise BadSettings(
            f"This command needs the package {package}, which is not installed. "
            f"Install it: {sys.executable} -m pip install 'rejoinder[{extra}]'"
        ) from error
