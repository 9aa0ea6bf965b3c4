from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.errors import KnowledgeBaseError, WeightsError
from models.arrays import open_arrays


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    np.savez_compressed(tmp_path / "head.npz", weights=np.arange(4000, dtype=np.float32))
    return tmp_path / "head.npz"


def test_arrays_are_read_by_name(whole: Path) -> None:
    with open_arrays(whole, "The head") as arrays:
        assert arrays["weights"].sum() == np.arange(4000).sum()


@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "no archive", "other bytes inside", "encrypted"])
def test_a_torn_file_is_named_with_what_to_do(whole: Path, damage: str) -> None:
    content = whole.read_bytes()
    half = len(content) // 2
    match damage:
        case "gone":
            whole.unlink()
        case "empty":
            whole.write_bytes(b"")
        case "cut":
            whole.write_bytes(content[:half])
        case "no archive":
            whole.write_bytes(b"not an archive")
        case "other bytes inside":
            whole.write_bytes(content[:half] + b"\xff" * 64 + content[half + 64 :])
        case "encrypted":
            # The flag stands six bytes into the local header, and eight into that of the directory.
            at = content.rindex(b"PK\x01\x02") + 8
            whole.write_bytes(content[:6] + b"\x01" + content[7:at] + b"\x01" + content[at + 1 :])
    expected = r"The head can't be read from .*head\.npz .*install Rejoinder again"
    with pytest.raises(WeightsError, match=expected), open_arrays(whole, "The head") as arrays:
        arrays["weights"]


def test_an_array_that_is_missing_is_a_torn_file_too(whole: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match="bias"), open_arrays(whole, "It", KnowledgeBaseError) as arrays:
        arrays["bias"]
