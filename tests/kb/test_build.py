from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from core.domain import Evidence
from core.errors import KnowledgeBaseError, ModelUnavailable
from core.settings import KnowledgeBaseSettings
from kb import build, manifest, versions
from kb.search import Searcher
from kb.starter import StarterStatement, load_starter
from tests.kb.conftest import written_by_an_older_version

TWO_AT_ONCE = """
import asyncio, sys
from pathlib import Path
import numpy as np
from kb.build import ensure_starter
from kb.search import Searcher
from core.settings import KnowledgeBaseSettings

class Ones:
    name, dimension = "ones", 4
    async def passages(self, texts): return np.ones((len(texts), 4), np.float32)
    async def queries(self, texts): return np.ones((len(texts), 4), np.float32)
    async def close(self): pass

async def main():
    for _ in range(5):
        await ensure_starter(Path(sys.argv[1]), Ones())
        searcher = Searcher.open(Path(sys.argv[1]), Ones(), KnowledgeBaseSettings())
        assert await searcher.search("equal pay")
        searcher.close()
asyncio.run(main())
"""


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> tuple[StarterStatement, ...]:
    some = load_starter()[:3]
    monkeypatch.setattr(build, "load_starter", lambda: some)
    return some


async def test_texts_are_embedded_as_passages_and_claims_as_queries_once(
    tmp_path: Path, embedder: Any, statements: list[Evidence]
) -> None:
    await build.build(statements, embedder, tmp_path)
    assert sorted(embedder.embedded) == sorted(statement.text for statement in statements)
    assert sorted(embedder.asked) == sorted(claim for statement in statements for claim in statement.answers)
    current_manifest = manifest.read(versions.current(tmp_path))
    assert (current_manifest.paragraphs, current_manifest.embedder, current_manifest.dimension) == (5, "words-64", 64)


async def test_nothing_to_build_from_is_an_error(tmp_path: Path, embedder: Any) -> None:
    with pytest.raises(KnowledgeBaseError, match="no statement"):
        await build.build([], embedder, tmp_path)


async def test_a_folder_that_cannot_be_written_is_an_error(
    tmp_path: Path, embedder: Any, statements: list[Evidence]
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(KnowledgeBaseError, match="could not be written"):
        await build.build(statements, embedder, tmp_path / "file" / "kb")


async def test_a_failed_build_leaves_the_old_one(tmp_path: Path, embedder: Any, statements: list[Evidence]) -> None:
    await build.build(statements, embedder, tmp_path)
    before = versions.current(tmp_path)
    with pytest.raises(KnowledgeBaseError, match="repeats"):
        await build.build([*statements, statements[0]], embedder, tmp_path)

    async def away(texts: list[str]) -> None:
        raise ModelUnavailable("away")

    embedder.passages = away
    with pytest.raises(ModelUnavailable):
        await build.build(statements[:2], embedder, tmp_path)
    assert versions.current(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "current", before.name]


async def test_the_starter_is_built_once(tmp_path: Path, embedder: Any, few: tuple[StarterStatement, ...]) -> None:
    await build.ensure_starter(tmp_path, embedder)
    version = versions.current(tmp_path)
    await build.ensure_starter(tmp_path, embedder)
    assert versions.current(tmp_path) == version


async def test_changed_statements_another_embedder_or_a_torn_file_build_it_again(
    tmp_path: Path, embedder: Any, few: tuple[StarterStatement, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    await build.ensure_starter(tmp_path, embedder)
    seen = {versions.current(tmp_path)}
    embedder.name = "other"
    await build.ensure_starter(tmp_path, embedder)
    seen.add(versions.current(tmp_path))
    monkeypatch.setattr(build, "load_starter", lambda: few[:2])
    await build.ensure_starter(tmp_path, embedder)
    seen.add(versions.current(tmp_path))
    (versions.current(tmp_path) / "0" / "vectors.faiss").write_bytes(b"torn")
    await build.ensure_starter(tmp_path, embedder)
    seen.add(versions.current(tmp_path))
    assert len(seen) == 4
    Searcher.open(tmp_path, embedder, KnowledgeBaseSettings()).close()


async def test_starter_evidence_of_an_older_version_is_built_again_by_itself(
    tmp_path: Path, embedder: Any, few: tuple[StarterStatement, ...]
) -> None:
    await build.ensure_starter(tmp_path, embedder)
    written_by_an_older_version(versions.current(tmp_path))
    with pytest.raises(KnowledgeBaseError, match="`rejoinder kb build`"):
        Searcher.open(tmp_path, embedder, KnowledgeBaseSettings())
    await build.ensure_starter(tmp_path, embedder)
    assert manifest.read(versions.current(tmp_path)).format == manifest.FORMAT


async def test_processes_that_build_and_open_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    family = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", TWO_AT_ONCE, str(tmp_path), cwd=root)
        for _ in range(3)
    ]
    assert [await child.wait() for child in family] == [0, 0, 0]
