"""Open the array files that the package ships."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np

from core.errors import RejoinderError, WeightsError


@contextmanager
def open_arrays(file: Traversable, what: str, error: type[RejoinderError] = WeightsError) -> Iterator[Any]:
    """Open an .npz file, whose arrays the block reads by name.

    Any fault in the file, or in what the block makes of its arrays, is raised as `error`, with `what` as the file's
    name in its message.
    """
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            yield arrays
    except (OSError, EOFError, KeyError, RuntimeError, TypeError, ValueError, zipfile.BadZipFile, zlib.error) as fault:
        raise error(f"{what} can't be read from {file} ({fault}): install Rejoinder again.") from fault
