"""Read the pipeline's data that is not specific to one language, and word lists by language."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parents[1] / "data"


@lru_cache(maxsize=16)
def table(name: str) -> dict[str, Any]:
    """Return `pipeline/data/<name>.toml`."""
    return tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=64)
def words_pattern(kind: str, language: str) -> re.Pattern[str]:
    """Return the pattern of one list of `speech.toml`, over folded text; without such a list it matches nothing."""
    listed = table("speech")[kind].get(language)
    return re.compile(rf"(?<!\w)(?:{'|'.join(listed)})(?!\w)" if listed else r"(?!)")
