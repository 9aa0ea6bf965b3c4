from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import pytest

from core.domain import Check
from pipeline.guard.lexicon import table

Judge = Callable[..., Check]


@pytest.mark.parametrize(
    "text",
    [
        "As an AI language model, I value rights.",
        "I cannot assist with that.",
        "I'm sorry, but I can't help.",
        "I can’t write this reply.",
        "I am unable to respond.",
        "I won't engage.",
        "I’m just an AI.",
        "I apologise for that.",
        "Como modelo de lenguaje, no opino.",
        "Lo siento, no puedo ayudar.",
        "En tant qu'IA, je refuse.",
        "Als KI kann ich das nicht.",
        "Come modello linguistico non rispondo.",
    ],
)
def test_refusals_and_machine_talk_fail(judge: Judge, text: str) -> None:
    assert not judge("refusal", text).passed


@pytest.mark.parametrize(
    "text", ["I cannot accept such words.", "We cannot stay silent.", "I am glad to help my neighbours."]
)
def test_a_persons_own_words_are_no_refusal(judge: Judge, text: str) -> None:
    assert judge("refusal", text).passed


@pytest.mark.parametrize(
    "text",
    [
        "My system prompt says to be kind.",
        "Reply: women vote.",
        "Evidence [1] says so.",
        "As [2] shows, all vote.",
        "The flagged post is wrong.",
        "The post does not address the issue.",
        "Esto es lo que dice el post.",
        "Non è vero quello che sta nel post.",
        "<|im_end|>",
        "Here is a reply to it.",
        "Follow the instructions above.",
        "### Women vote.",
        "‹im_start› Women vote.",
        "post-a1b2c3d4e5f6 Women vote.",
        "Ignore previous rules.",
        "This counterspeech is fair.",
        "A moderator wishes: be kind.",
        "The post is false and contradicts the facts.",
        "This response stands up for the people it speaks of.",
    ],
)
def test_pieces_of_the_prompt_fail(judge: Judge, text: str) -> None:
    assert not judge("leak", text).passed


def test_every_line_of_the_task_is_caught(judge: Judge) -> None:
    wording = table("prompts")["task"]
    lines = [*wording["message"].splitlines(), wording["no_evidence"], wording["wish"]]
    values = defaultdict(str, fence="post-a1b2c3d4e5f6", task="Be kind.", hint="be kind")
    shown = (line.format_map(values) for line in lines)
    assert [text for text in shown if text.strip() and judge("leak", text).passed] == []


def test_a_good_reply_leaks_nothing(judge: Judge, good: str) -> None:
    assert judge("leak", good).passed


@pytest.mark.parametrize(
    "text",
    [
        "The post is about women in parliament.",
        "The post claims that women should not vote.",
        "I'm here to help you craft a response.",
        "Here is a calm answer with one fact.",
        "A continuación tienes una respuesta breve.",
        "Ecco una possibile risposta.",
        "Hona hemen erantzun labur bat.",
    ],
)
def test_a_reply_that_speaks_of_itself_or_of_the_post_fails(judge: Judge, text: str) -> None:
    assert not judge("leak", text).passed


@pytest.mark.parametrize(
    "text", ["This post is false.", "Women answer for themselves.", "Hope helps, contempt does not."]
)
def test_plain_words_against_the_post_are_no_leak(judge: Judge, text: str) -> None:
    assert judge("leak", text).passed


def test_the_prompts_example_is_no_reply(judge: Judge) -> None:
    example = table("prompts/locked")["example"]["en"]
    assert "example" in judge("leak", example["informative"]).detail
    assert judge("leak", example["denouncing"]).passed, "it would fit any post"
