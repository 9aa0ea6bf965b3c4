"""The tree of errors in `core.errors` is the one that its docstring draws."""

from __future__ import annotations

import inspect
import re

from core import errors


def below(error: type[Exception]) -> set[str]:
    """Return the names of all errors that are one of `error`, itself among them."""
    own = {error.__name__} if error.__module__ == errors.__name__ else set()
    return own.union(*(below(kind) for kind in error.__subclasses__()))


def test_the_docstring_draws_every_error() -> None:
    drawn = set(re.findall(r"^[│├└─ ]*([A-Z]\w+)", inspect.getdoc(errors) or "", re.MULTILINE))
    assert below(errors.RejoinderError) == drawn - {"The"}
