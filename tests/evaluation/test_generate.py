"""Drafting for an evaluation: every strategy, through the pipeline's own code, without a look at the references."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.errors import BadInput
from core.settings import Settings
from evaluation.command import evaluate
from evaluation.generate import STRATEGIES, as_flagged, asks_model, combinations, generate
from evaluation.records import REFERENCES, EvaluationPost, System
from evaluation.run import RunFolder
from rejoinder import assembly
from rejoinder.cli import Program
from tests.models.scripted_chat import ScriptedChat

PROGRAM = Program(commands=[evaluate])
POST = EvaluationPost(
    id="a",
    text="Migrants take our jobs, send them all back.",
    language="en",
    references=("Quetzal reference: work is not fixed.", "Zygote reference."),
)


def test_combinations_have_no_system_twice() -> None:
    systems = combinations(("compose", "free"), ("none", "tiny"), ("hybrid", "words"), Settings())
    names = [system.name for system in systems]
    assert names == ["compose/none/hybrid", "compose/none/words", "free/tiny/hybrid", "free/tiny/words"]


@pytest.mark.parametrize(("strategies", "retrievers"), [(("compos",), ("hybrid",)), (("compose",), ("magic",))])
def test_an_unknown_name_is_refused_with_those_that_there_are(
    strategies: tuple[str, ...], retrievers: tuple[str, ...]
) -> None:
    with pytest.raises(BadInput, match="there are"):
        combinations(strategies, ("none",), retrievers, Settings())


def test_a_strategy_that_needs_a_model_says_so() -> None:
    with pytest.raises(BadInput, match="--models"):
        combinations(("free",), ("none",), ("hybrid",), Settings())


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_references_never_reach_the_drafting_model(
    strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = ScriptedChat(*["Jobs are not taken away. Newcomers also open shops."] * 9)

    @asynccontextmanager
    async def scripted(settings: Settings, log_file: Path | None = None) -> AsyncIterator[ScriptedChat]:
        yield chat

    monkeypatch.setattr(assembly, "chat_client", scripted)
    settings = Settings(data_dir=tmp_path)
    system = System(strategy=strategy, model="tiny", retriever="hybrid")
    run = RunFolder.create(tmp_path / "run", [POST], [system], 1, settings)
    assert await generate(run, system, [POST], settings, lambda: None) == 1
    asked = json.dumps([[message.content for message in call["messages"]] for call in chat.asked])
    assert "Quetzal" not in asked and "Zygote" not in asked
    assert bool(chat.asked) == asks_model(system, settings)
    assert next(run.drafts()).post_id == "a"


def test_each_post_is_a_case_of_its_own_whatever_its_id() -> None:
    ids = ["1", "2", "two words", "..", "x" * 200]
    assert len({as_flagged(POST.model_copy(update={"id": id})).key for id in ids}) == len(ids)


def test_generate_goes_on_where_it_was_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_DATA_DIR", str(tmp_path / "data"))
    posts = tmp_path / "posts.jsonl"
    posts.write_text(
        '{"id": "a", "text": "Migrants take our jobs.", "language": "en", "references": ["They also make some."]}\n'
        "{\n"
        '{"id": "b", "text": "Women belong in the kitchen.", "language": "en"}\n'
    )
    command = ["evaluate", "generate", str(posts), "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(PROGRAM, command)
    assert result.exit_code == 0, result.output
    assert "Line 2 is no post" in result.output
    run = RunFolder.open(tmp_path / "run")
    drafted = [(draft.post_id, draft.system) for draft in run.drafts()]
    assert drafted == [("a", REFERENCES), ("a", "compose/none/hybrid"), ("b", "compose/none/hybrid")]
    whole = run.drafts_path.read_bytes()
    run.drafts_path.write_bytes(whole[: whole.rindex(b'{"post_id') + 20])
    assert CliRunner().invoke(PROGRAM, command).exit_code == 0
    assert [(draft.post_id, draft.system) for draft in run.drafts()] == drafted
    assert "They also make some" not in (run.path / "manifest.json").read_text()


def test_a_folder_with_other_posts_is_refused(tmp_path: Path) -> None:
    other = POST.model_copy(update={"id": "b"})
    RunFolder.create(tmp_path, [POST], [], 1, Settings())
    with pytest.raises(BadInput, match="other posts"):
        RunFolder.create(tmp_path, [other], [], 1, Settings())


def test_the_manifest_holds_no_key(tmp_path: Path) -> None:
    settings = Settings.model_validate({"chat": {"api_key": "very-secret"}, "embedding": {"api_key": "more-secret"}})
    RunFolder.create(tmp_path, [POST], [], 1, settings)
    text = (tmp_path / "manifest.json").read_text()
    assert "secret" not in text and "api_key" not in text
