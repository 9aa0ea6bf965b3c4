from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import KnowledgeBaseError
from kb import shipped
from kb.shipped import TextToEmbed
from kb.starter import load_starter
from models.e5 import E5Embedder
from models.embedders import default_embedder
from training.starter_vectors import shipped_passages


@pytest.fixture(autouse=True)
def fresh() -> None:
    shipped.shipped_vectors.cache_clear()


def test_every_shipped_statement_and_wording_has_its_vector() -> None:
    passages = set(shipped_passages())
    keys = set(shipped.shipped_vectors(E5Embedder.name))
    missing = [passage for passage in passages if shipped.key(passage) not in keys]
    assert not missing, f"{len(missing)} passages have no vector; run `rejoinder train starter-vectors`"
    assert len(keys) == len(passages), "vectors of texts that are gone; run `rejoinder train starter-vectors`"


async def test_shipped_vectors_are_those_of_the_model() -> None:
    some = [statement.evidence() for statement in load_starter()[::60]]
    embedder = default_embedder()
    texts = await embedder.passages([statement.text for statement in some])
    claims = await embedder.queries([statement.answers[0] for statement in some])
    await embedder.close()
    fresh = np.concatenate([texts, claims])
    kept = await shipped.embed_texts(
        [TextToEmbed(statement.text, False) for statement in some]
        + [TextToEmbed(statement.answers[0], True) for statement in some],
        embedder,
    )
    assert np.sum(fresh * kept, axis=1).min() > 0.999


async def test_only_what_is_not_shipped_is_embedded(embedder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = np.full(64, 0.125, np.float32)
    new, old = TextToEmbed("new", False), TextToEmbed("known", False)
    monkeypatch.setattr(shipped, "shipped_vectors", lambda _: {shipped.key(old): known})
    vectors = await shipped.embed_texts([new, old, new], embedder)
    assert embedder.embedded == ["new"]
    assert np.array_equal(vectors[1], known)
    assert np.array_equal(vectors[0], vectors[2])


def test_another_embedder_gets_none() -> None:
    assert shipped.shipped_vectors("other") == {}


def test_a_torn_file_of_the_package_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / shipped.NAME).write_bytes(b"torn")
    monkeypatch.setattr(shipped, "files", lambda _: tmp_path)
    with pytest.raises(KnowledgeBaseError, match="install Rejoinder again"):
        shipped.shipped_vectors("e")
