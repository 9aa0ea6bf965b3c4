"""Read the word lists that ship beside the pipeline."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.domain import TargetGroup

_DATA = Path(__file__).parents[1] / "data"


@lru_cache(maxsize=16)
def table(name: str) -> dict[str, Any]:
    """Return `pipeline/data/<name>.toml`."""
    return tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8"))


def words() -> dict[str, dict[str, list[str]]]:
    """Return function words and claim vocabulary by language."""
    return table("words")


def stance(language: str) -> dict[str, list[str]]:
    """Return the stance patterns of `language`, English where there are none."""
    entries = table("stance")
    found: dict[str, list[str]] = entries.get(language) or entries["en"]
    return found


def has_stance(language: str) -> bool:
    """Tell whether a reply in `language` can be judged for its stance."""
    return language in table("stance")


def group_terms() -> dict[TargetGroup, list[str]]:
    """Return how each target group is called, in all languages."""
    return {TargetGroup(name): terms for name, terms in table("groups").items()}
