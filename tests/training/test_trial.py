"""A model is tried with and without its adapter, blind to references, and what was drafted is not drafted again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.domain import Intent
from core.settings import Settings
from evaluation.records import REFERENCES
from evaluation.run import RunFolder
from tests.evaluation.runs import make_posts
from tests.models.scripted_chat import ScriptedChat
from training.adapters import trial


async def test_both_systems_draft_once_and_requests_switch_the_adapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat, loaded = ScriptedChat("They build\nbridges."), []

    @asynccontextmanager
    async def client(settings: Settings, log_file: Path) -> AsyncIterator[ScriptedChat]:
        loaded.append(dict(settings.chat.adapters))
        yield chat

    monkeypatch.setattr(trial, "chat_client", client)
    settings, posts, adapter = Settings(data_dir=tmp_path / "data"), make_posts(2), tmp_path / "kind.gguf"
    pair = trial.systems(settings.chat.model, adapter)
    run = RunFolder.create(tmp_path / "run", posts, pair, 1, settings)
    steps: list[int] = []
    for _ in range(2):
        await trial.try_adapter(run, posts, adapter, settings, lambda: steps.append(1))
    drafts = list(run.drafts())
    assert [draft.system for draft in drafts if draft.system != REFERENCES] == [system.name for system in pair] * 2
    assert {draft.text for draft in drafts if draft.system != REFERENCES} == {"They build bridges."}
    assert len(steps) == 8 and loaded == [{Intent.INFORMATIVE: adapter}] * 2
    assert [asked["adapter"] for asked in chat.asked] == [None, Intent.INFORMATIVE] * 2
    prompts = "".join(message.content for asked in chat.asked for message in asked["messages"])
    assert all(post.text in prompts for post in posts)
    assert not any(reference in prompts for post in posts for reference in post.references)
