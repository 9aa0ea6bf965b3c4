"""Search the shipped statements with the shipped model: does the search do what it says?

How well results answer posts is measured on graded posts, by `make bench-kb`.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.domain import TargetGroup
from core.settings import KnowledgeBaseSettings
from kb.build import ensure_starter
from kb.search import Searcher
from kb.starter import load_starter
from models.embedders import default_embedder

HERE = Path(__file__).parent
UNRELATED: dict[str, list[str]] = tomllib.loads((HERE / "unrelated_posts.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the knowledge base of the starter once: nothing here writes into it."""

    async def build(folder: Path) -> Path:
        embedder = default_embedder()
        await ensure_starter(folder, embedder)
        await embedder.close()
        return folder

    return asyncio.run(build(tmp_path_factory.mktemp("starter")))


@pytest.fixture
async def searcher(starter: Path) -> AsyncIterator[Searcher]:
    embedder = default_embedder()
    opened = Searcher.open(starter, embedder, KnowledgeBaseSettings())
    yield opened
    opened.close()
    await embedder.close()


@pytest.mark.parametrize("group", list(TargetGroup))
async def test_a_group_s_search_gives_statements_of_that_group(searcher: Searcher, group: TargetGroup) -> None:
    posts = [statement.answers[-1] for statement in load_starter() if group in statement.groups][:5]
    results = [result for post in posts for result in await searcher.search(post, groups=[group])]
    assert results
    assert all(group in result.groups for result in results)


async def test_most_posts_about_something_else_get_no_evidence(searcher: Searcher) -> None:
    for posts in UNRELATED.values():
        answered = [post for post in posts if await searcher.search(post)]
        assert len(answered) <= 0.5 * len(posts)


async def test_a_claim_of_the_starter_finds_its_statement(searcher: Searcher) -> None:
    for statement in load_starter()[::25]:
        results = await searcher.search(statement.answers[0], groups=statement.groups)
        assert statement.id in {result.id for result in results}
