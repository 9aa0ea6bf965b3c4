"""Read the data that ships beside the pipeline and belongs to no one language."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parents[1] / "data"


@lru_cache(maxsize=16)
def table(name: str) -> dict[str, Any]:
    """Return `pipeline/data/<name>.toml`."""
    return tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8"))
