from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from kb import shipped
from kb.shipped import TextToEmbed
from models.e5 import E5Embedder
from training.command import train
from training.starter_vectors import write


@pytest.fixture(autouse=True)
def fresh() -> None:
    shipped.shipped_vectors.cache_clear()


def test_written_vectors_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    same = [TextToEmbed("a", False), TextToEmbed("a", True)]
    write(tmp_path / "data" / shipped.NAME, "e", same, np.eye(2, dtype=np.float32))
    monkeypatch.setattr(shipped, "files", lambda _: tmp_path)
    assert shipped.shipped_vectors("e")[shipped.key(same[1])].tolist() == [0.0, 1.0]


def test_the_command_writes_what_is_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    expected = dict(shipped.shipped_vectors(E5Embedder.name))
    assert CliRunner().invoke(train, ["starter-vectors", "--out", str(tmp_path / "data")]).exit_code == 0
    shipped.shipped_vectors.cache_clear()
    monkeypatch.setattr(shipped, "files", lambda _: tmp_path)
    written = shipped.shipped_vectors(E5Embedder.name)
    assert written.keys() == expected.keys()
    assert all(np.array_equal(written[key], vector) for key, vector in expected.items())
