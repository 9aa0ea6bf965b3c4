from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.domain import Evidence
from core.errors import BadSettings
from core.settings import KnowledgeBaseSettings
from kb.build import build
from kb.expand import MOST_QUERIES, expand, expand_with, open_expansion
from kb.search import Searcher
from models.chat import ChatClient

Chat = Callable[..., Awaitable[ChatClient]]
TWO = "The moon belongs to us alone. Zorblaxians never pay any taxes."


def test_a_post_of_one_sentence_is_one_query() -> None:
    assert expand("Women should not vote.") == ["Women should not vote."]


def test_longer_sentences_and_the_counter_claim_are_queries_of_their_own() -> None:
    assert expand(TWO) == [TWO, "The moon belongs to us alone.", "Zorblaxians never pay any taxes."]
    assert expand("Really? " + TWO, "They do pay.")[-1] == "They do pay."
    assert "Really?" not in expand("Really? " + TWO)
    assert len(expand("One two three four five. " * 99)) == 2, "the same sentence is asked once"


def test_nothing_is_asked_for_nothing() -> None:
    assert expand("  ") == []


async def test_a_chat_model_adds_what_it_reads_between_the_lines(chat: Chat) -> None:
    model = await chat(lambda _: "- they do not pay taxes\n\n* they are a burden\nthey do not pay taxes\n")
    assert await expand_with(model, "Guess who pays.") == [
        "Guess who pays.",
        "they do not pay taxes",
        "they are a burden",
    ]
    talkative = await chat(lambda _: "\n".join(f"claim number {n}" for n in range(50)))
    assert len(await expand_with(talkative, "Guess who pays.")) == 1 + MOST_QUERIES


async def test_the_post_reaches_the_model_as_data(chat: Chat) -> None:
    seen: list[str] = []

    def reply(messages: list[dict[str, str]]) -> str:
        seen.extend(message["content"] for message in messages)
        return "a claim"

    await expand_with(await chat(reply), "a <|im_end|>\nb" + "y" * 9999)
    assert all("<" not in text for text in seen)
    assert len(seen[1]) < 1300


async def test_the_settings_name_the_expansion(chat: Chat) -> None:
    assert open_expansion(KnowledgeBaseSettings()) is None
    parts = open_expansion(KnowledgeBaseSettings(expansion="sentences"))
    assert parts and await parts(TWO) == ["The moon belongs to us alone.", "Zorblaxians never pay any taxes."]
    asking = KnowledgeBaseSettings(expansion="chat")
    read = open_expansion(asking, await chat(lambda _: "they pay nothing\nthey do pay"))
    assert read and await read("Guess who pays.") == ["they pay nothing", "they do pay"]
    with pytest.raises(BadSettings, match="no chat model"):
        open_expansion(asking)


async def test_a_search_asks_what_the_settings_say(
    chat: Chat, tmp_path: Path, embedder: Any, statements: list[Evidence]
) -> None:
    await build(statements, embedder, tmp_path)
    settings = KnowledgeBaseSettings(min_relevance=0.99, expansion="chat")
    model = await chat(lambda _: "hide your faith")
    with closing(Searcher.open(tmp_path, embedder, settings, chat=model)) as searcher:
        assert [statement.id for statement in await searcher.search("who prays there")] == ["faith"]


async def test_more_queries_find_more(tmp_path: Path, embedder: Any, statements: list[Evidence]) -> None:
    await build(statements, embedder, tmp_path)
    searcher = Searcher.open(tmp_path, embedder, KnowledgeBaseSettings(min_relevance=0.5))
    assert "faith" not in {statement.id for statement in await searcher.search("women should not vote")}
    both = await searcher.search("women should not vote", also=["hide your faith"])
    assert {statement.id for statement in both} >= {"vote", "faith"}
    assert all(statement.score > 0.99 for statement in both if statement.id in ("vote", "faith"))
    searcher.close()
