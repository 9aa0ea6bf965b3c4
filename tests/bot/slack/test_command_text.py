from __future__ import annotations

import pytest

from bot.slack.command_text import parse
from core.domain import Intent, TargetGroup
from core.errors import BadInput


@pytest.mark.parametrize(
    ("text", "name", "options", "rest"),
    [
        ("", "help", {}, ""),
        ("  Queue ", "queue", {}, ""),
        ("queue mine group:muslims", "queue", {"group": "muslims"}, "mine"),
        ("draft intent:positive Say &lt;b&gt; &amp; more", "draft", {"intent": "positive"}, "Say <b> & more"),
        ("draft see <https://x.example/a|x.example> <@U01|ana> <#C01|desk>", "draft", {},
         "see https://x.example/a @ana #desk"),
        ("draft the note: group:work matters", "draft", {}, "the note: group:work matters"),
        ("pause hours:2", "pause", {"hours": "2"}, ""),
        ("draft\nTwo\nlines", "draft", {}, "Two\nlines"),
    ],
)  # fmt: skip
def test_a_command_is_read_as_it_was_meant(text: str, name: str, options: dict[str, str], rest: str) -> None:
    typed = parse(text)
    assert (typed.name, typed.options, typed.arguments) == (name, options, rest)


def test_a_person_is_read_by_id() -> None:
    assert parse("assign 12 <@U012ABC|ana>").person == ("U012ABC", "ana")
    assert parse("assign 12 @ana").person is None


def test_a_case_and_the_words_about_it_may_stand_on_lines_of_their_own() -> None:
    assert parse("note 12\nCall the school.\nAsk twice.").first_and_rest() == ("12", "Call the school.\nAsk twice.")
    assert parse("reopen 12").first_and_rest() == ("12", "")
    assert parse("reopen").first_and_rest() == ("", "")


def test_options_are_checked() -> None:
    typed = parse("queue group:Muslims intent:rude hours:soon")
    assert typed.option("group", TargetGroup) is TargetGroup.MUSLIMS
    with pytest.raises(BadInput, match="choose one of"):
        typed.option("intent", Intent)
    with pytest.raises(BadInput, match="no number"):
        typed.hours()
