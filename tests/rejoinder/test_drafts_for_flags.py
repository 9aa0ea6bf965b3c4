"""Real hateful posts get a draft without a chat model, unless they threaten, which people see first."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from core.domain import DraftRequest, FlaggedPost
from core.lifecycle import goes_on
from core.settings import NO_MODEL, ChatSettings, Settings, TriageSettings
from rejoinder.assembly import open_pipeline

SHARED = Path(__file__).parents[3] / "shared" / "data" / "flags"
SECOND_READING = Path(__file__).parents[2] / "training" / "threats" / "second_reading.txt"
AIM = 0.8
FEWEST = 200

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not SHARED.is_dir(), reason="the flagged posts (../shared/data/flags) are not beside this checkout"
    ),
]


def hateful_posts_without_a_threat() -> list[FlaggedPost]:
    """Return the flags that annotators call hateful and neither of two readers called a threat."""
    lines = SECOND_READING.read_text("utf-8").splitlines()
    threats = {line.split()[1] for line in lines if not line.startswith("#")}
    labels = [
        json.loads(line)["label"] for line in (SHARED / "real_posts.labels.jsonl").read_text("utf-8").splitlines()
    ]
    posts = map(FlaggedPost.model_validate_json, (SHARED / "real_posts.jsonl").read_text("utf-8").splitlines())
    return [
        post
        for post, label in zip(posts, labels, strict=True)
        if label == "hate" and f"{post.post_id}_{post.platform}" not in threats
    ]


async def test_four_fifths_of_hateful_posts_get_a_draft(tmp_path: Path) -> None:
    posts = hateful_posts_without_a_threat()
    settings = Settings(data_dir=tmp_path, chat=ChatSettings(model=NO_MODEL), triage=TriageSettings(reread=False))
    async with open_pipeline(settings) as pipeline:
        triager, grounder, drafter = pipeline.triager, pipeline.grounder, pipeline.drafter
        assert triager and grounder and drafter

        async def gets_a_draft(post: FlaggedPost) -> bool:
            triage = await triager.triage(post)
            if not goes_on(triage.route):
                return False
            evidence = await grounder.ground(post, triage)
            return bool((await drafter.draft(post, triage, evidence, DraftRequest())).text)

        drafted = await asyncio.gather(*map(gets_a_draft, posts))
    assert len(drafted) > FEWEST
    assert sum(drafted) / len(drafted) >= AIM
