"""Compose a reply to real flagged posts: each must pass every hard check. The posts are read by path, never shown."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from core.domain import DraftRequest, Evidence, FlaggedPost, Intent, Origin, TargetGroup
from pipeline.draft import Drafter
from tests.factories import make_grounding, make_triage

POSTS = Path(__file__).parents[3] / "../shared/data/flags/real_posts.jsonl"
EVERY = 4
"""Every so many posts are taken, to keep the test short."""


@pytest.mark.skipif(not POSTS.is_file(), reason="the folder of real posts is not here")
async def test_every_real_post_gets_a_composed_reply_that_passes(
    drafter: Callable[..., Drafter], statements: tuple[Evidence, ...]
) -> None:
    chance = random.Random(11)
    groups = {group: [item for item in statements if group in item.groups] for group in TargetGroup}
    without: Counter[str] = Counter()
    with POSTS.open(encoding="utf-8") as lines:
        posts = [FlaggedPost.model_validate(json.loads(line)) for line in lines][::EVERY]
    for number, post in enumerate(posts):
        group = chance.choice(list(TargetGroup))
        grounding = make_grounding(*chance.sample(groups[group], 3))
        request = DraftRequest(intent=list(Intent)[number % 4])
        draft = await drafter(None).draft(post, make_triage(group), grounding, request)
        assert all(check.passed for check in draft.checks if check.hard)
        if draft.origin is Origin.NONE:
            without.update(check for check in draft.note.split())
    assert without.total() == 0, without
