"""Judges: both orders, blind, no verdict counted, and held against people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.errors import BadInput, ModelRefused, ModelUnavailable
from evaluation.judging.agreement import agreement, read_people
from evaluation.judging.judge import JudgeVerdict, judge, questions, verdicts_of
from evaluation.judging.prompts import PROMPTS, Preference, read_letter, read_scores
from evaluation.judging.tally import caution, pair_results, strengths, summary, wins_by_post
from evaluation.run import RunFolder
from models.chat import Completion, Message
from tests.evaluation.runs import make_run
from tests.models.scripted_chat import ScriptedChat

DRAFTS = {
    "compose": ["Fine reply zero.", "Fine reply one.", "Fine reply two."],
    "free": ["Poor zero.", "Poor one.", "Poor two."],
    "plain": ["Middling zero.", "", "Middling two."],
}
RANKS = ("Fine", "Middling", "Poor")


class Reader(ScriptedChat):
    """A judge that knows what is good, whatever its place."""

    async def complete(self, messages: Sequence[Message], **options: Any) -> list[Completion]:
        await super().complete(messages)
        first_reply, second_reply = messages[-1].content.split("Reply A:")[1].split("Reply B:")
        first, second = (self._rank(reply) for reply in (first_reply, second_reply))
        return [Completion("A" if first < second else "B", "stop")]

    @staticmethod
    def _rank(reply: str) -> int:
        return next(place for place, word in enumerate(RANKS) if word in reply)


def ignore(steps: int) -> None:
    pass


async def judged(run: RunFolder, chat: ScriptedChat, prompt: str = "rubric") -> list[JudgeVerdict]:
    await judge(run, chat, PROMPTS[prompt], questions(run, None, 1), ignore)
    return verdicts_of(run, chat.model, prompt)


def test_every_pair_is_asked_in_both_orders_and_empty_drafts_are_not(tmp_path: Path) -> None:
    asked = questions(make_run(tmp_path, DRAFTS), None, 1)
    assert len(asked) == 2 * (3 + 1 + 3)
    orders = {(question.post_id, question.first, question.second) for question in asked}
    assert all((post, second, first) in orders for post, first, second in orders)


def test_some_pairs_are_drawn_by_the_seed(tmp_path: Path) -> None:
    run = make_run(tmp_path, DRAFTS)
    assert len(questions(run, 2, 1)) == 4
    assert questions(run, 2, 1) == questions(run, 2, 1)


@pytest.mark.parametrize("prompt", PROMPTS)
async def test_judges_never_see_which_system_wrote_a_draft(tmp_path: Path, prompt: str) -> None:
    chat = ScriptedChat("8 6")
    await judged(make_run(tmp_path, DRAFTS), chat, prompt)
    shown = " ".join(message.content for call in chat.asked for message in call["messages"])
    assert "Fine reply zero." in shown
    assert not any(name in shown for name in ("compose", "free/", "plain/", "hybrid"))


async def test_the_better_system_wins_in_whatever_order(tmp_path: Path) -> None:
    counted = summary(await judged(make_run(tmp_path, DRAFTS), Reader("")), seed=1)
    assert list(counted["systems"]) == ["compose/none/hybrid", "plain/none/hybrid", "free/none/hybrid"]
    assert {name: counted["systems"]["compose/none/hybrid"][name] for name in ("wins", "losses", "ties")} == {
        "wins": 5, "losses": 0, "ties": 0,
    }  # fmt: skip
    against = counted["systems"]["plain/none/hybrid"]["against"]
    assert {name.partition("/")[0]: (row["wins"], row["losses"]) for name, row in against.items()} == {
        "compose": (0, 2), "free": (2, 0),
    }  # fmt: skip
    assert counted["first_preferred"] == 0.5 and counted["orders_disagree"] == 0 and not caution(counted)
    assert counted["cost"]["calls"] == 14


async def test_a_judge_that_always_takes_the_first_ties_everything(tmp_path: Path) -> None:
    counted = summary(await judged(make_run(tmp_path, DRAFTS), ScriptedChat("A")), seed=1)
    assert counted["first_preferred"] == 1 and counted["orders_disagree"] == 1
    assert "take no ranking" in caution(counted)
    assert {row["ties"] for row in counted["systems"].values()} == {4, 5}
    assert {row["strength"] for row in counted["systems"].values()} == {0}


@pytest.mark.parametrize("chat", [ScriptedChat("Bananas."), ScriptedChat(error=ModelRefused("It holds no message."))])
async def test_nonsense_is_counted_as_no_verdict(tmp_path: Path, chat: ScriptedChat) -> None:
    verdicts = await judged(make_run(tmp_path, DRAFTS), chat)
    counted = summary(verdicts, seed=1)
    assert counted["no_verdict"] == counted["asked"] == 14
    assert counted["pairs"] == 0 and counted["first_preferred"] is None


async def test_a_judge_that_never_answers_is_given_up_and_can_go_on(tmp_path: Path) -> None:
    run = make_run(tmp_path, DRAFTS)
    with pytest.raises(ModelUnavailable, match="kept"):
        await judged(run, ScriptedChat(error=ModelUnavailable("Away.")))
    kept = verdicts_of(run, "scripted", "rubric")
    assert [verdict.preference for verdict in kept] == [Preference.NONE] * len(kept)
    chat = ScriptedChat("A")
    verdicts = await judged(run, chat)
    assert len(verdicts) == len(chat.asked) == 14
    assert all(verdict.preference is Preference.FIRST for verdict in verdicts)
    await judged(run, chat)
    assert len(chat.asked) == 14


@pytest.mark.parametrize(
    ("answer", "preference"),
    [
        ("8 6\nBecause.", Preference.FIRST), ("6, 8", Preference.SECOND), ("7.5 7.5", Preference.TIE),
        ("Scores: 9 3", Preference.FIRST), ("100 90", Preference.NONE), ("", Preference.NONE),
        ("good", Preference.NONE),
    ],
)  # fmt: skip
def test_scores_are_read(answer: str, preference: Preference) -> None:
    assert read_scores(answer) is preference


@pytest.mark.parametrize(
    ("answer", "preference"),
    [
        ("A", Preference.FIRST), (" **B**.", Preference.SECOND), ("Reply A is", Preference.FIRST),
        ("tie", Preference.TIE),
        ("Answer: B", Preference.SECOND), ("Both are fine", Preference.NONE), ("", Preference.NONE),
    ],
)  # fmt: skip
def test_letters_are_read(answer: str, preference: Preference) -> None:
    assert read_letter(answer) is preference


async def test_strengths_by_hand(tmp_path: Path) -> None:
    verdicts = await judged(make_run(tmp_path, {"compose": ["Fine."] * 3, "free": ["Poor."] * 3}), Reader(""))
    results = pair_results(verdicts)
    # Three wins and half a prior draw each way: odds of 3.25 to 0.25.
    low, high = sorted(strengths(wins_by_post(results, ["compose/none/hybrid", "free/none/hybrid"]).sum(axis=0)))
    assert high - low == pytest.approx(2.5649, abs=1e-3)


async def test_a_judge_is_held_against_people(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", {name: DRAFTS[name] for name in ("compose", "free")})
    judge_results = pair_results(await judged(run, Reader("")))
    file = tmp_path / "people.csv"
    rows = [
        f"p{number},free/none/hybrid,compose/none/hybrid,{who}" for number, who in enumerate(["right", "right", "left"])
    ]
    file.write_text("\n".join(["post_id,left,right,preferred", *rows]))
    measured = agreement(judge_results, read_people(file))
    assert measured["pairs"] == 3 and measured["accuracy"] == pytest.approx(2 / 3, abs=1e-3)
    assert measured["kappa"] is None  # the judge said the same of all pairs
    assert [pair["people"] for pair in measured["by_pair"]] == ["compose/none/hybrid"] * 2 + ["free/none/hybrid"]


@pytest.mark.parametrize(
    ("content", "message"),
    [("post_id,left\np0,a", "no column right, preferred"), ("post_id,left,right,preferred\np0,a,b,yes", "line 2")],
)
def test_peoples_file_that_can_not_be_used_is_explained(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "people.csv"
    file.write_text(content)
    with pytest.raises(BadInput, match=message):
        read_people(file)
