"""Write arrays as they are shipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from kb.claims.second_opinion import ClaimOpinion
from pipeline.second_opinion import SecondOpinion


def save(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays, floating-point ones in half precision."""
    halves: dict[str, Any] = {
        name: each.astype(np.float16) if each.dtype.kind == "f" else each for name, each in arrays.items()
    }
    np.savez_compressed(path, allow_pickle=False, **halves)


def arrays_of(opinion: SecondOpinion | ClaimOpinion) -> dict[str, Any]:
    """Return what an opinion holds as arrays, by name."""
    return {field.name: np.asarray(getattr(opinion, field.name)) for field in fields(opinion)}
