from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.chat.cards import ButtonAction, Card, build_card, failed_lines, groups_line
from core.domain import Case, CaseState, Check, Origin, Route, now
from ledger import Ledger
from tests.bot.samples import CHECKS, DRAFT, UNSAFE_LINK, add_answered, add_doubtful, add_pending, post, triage_of

A = ButtonAction


async def pending(ledger: Ledger, **more: Any) -> Case:
    return await ledger.cases.get(await add_pending(ledger, post(1), **more))


def actions(card: Card) -> list[ButtonAction]:
    return [button.action for button in card.buttons]


async def test_a_pending_case_offers_everything(ledger: Ledger) -> None:
    card = build_card(await pending(ledger))
    assert actions(card) == [A.APPROVE, A.EDIT, A.REJECT, A.REDRAFT, A.DISMISS, A.EVIDENCE, A.CLAIM]
    assert card.draft == card.editable == DRAFT
    assert card.groups == "migrants 93 %, people of colour 41 %"
    assert card.close_checks == (
        "close to the limit: doesn't repeat the post (repeats: school, children; 0.47 of 0.5)",
    )
    assert card.standing == "It waits for a decision."
    assert card.stale_at is None


async def test_without_a_draft_there_is_nothing_to_approve(ledger: Ledger) -> None:
    card = build_card(await pending(ledger, origin=Origin.NONE, note="Nothing fits; write it yourself."))
    assert A.APPROVE not in actions(card)
    assert card.buttons[0].label == "Write"
    assert "Nothing fits" in card.drafted


async def test_a_card_tells_the_claim_the_marks_and_what_does_not_fit(ledger: Ledger) -> None:
    card = build_card(await ledger.cases.get(await add_answered(ledger, post(1), hate=0.34)))
    assert card.answers == "Migrants take work away from locals."
    assert card.drafted == "words on file by compose, informative"
    assert card.warnings[0] == "The hate probability is only 34 %: is this hateful at all?"
    first, second = card.evidence
    assert first.why == "the draft says this: on file against the claim" and second.why == ""
    assert first.where.startswith("[contested or one study, second-hand, not yet read by a speaker (en), Zo")


async def test_a_draft_the_card_cannot_show_whole_can_only_be_edited_or_decided_on_the_web(ledger: Ledger) -> None:
    case = await pending(ledger)
    assert case.draft
    long = case.draft.model_copy(update={"text": "All people are equal. " * 60})
    card = build_card(case.model_copy(update={"drafts": (long,)}))
    assert ButtonAction.APPROVE not in actions(card) and ButtonAction.EDIT in actions(card)


async def test_a_claimed_case_can_be_released_and_the_card_is_stale_when_the_claim_runs_out(ledger: Ledger) -> None:
    case = await pending(ledger)
    until = now() + timedelta(minutes=5)
    case = await ledger.decisions.claim(case.key, case.version, "ana", until)
    card = build_card(case)
    assert A.RELEASE in actions(card)
    assert A.CLAIM not in actions(card)
    assert card.standing == "ana holds it."
    assert card.stale_at == until


@pytest.mark.parametrize("ahead", [True, False])
async def test_undo_is_offered_until_the_release(ledger: Ledger, ahead: bool) -> None:
    case = await pending(ledger)
    due = now() + timedelta(seconds=20 if ahead else -1)
    card = build_card(await ledger.decisions.approve(case.key, case.version, "ana", "A reply. Two.", "good", due))
    assert actions(card) == ([A.UNDO, A.EVIDENCE] if ahead else [A.EVIDENCE])
    assert card.undo_until == card.stale_at == (due if ahead else None)
    assert card.final_text == "A reply. Two."


async def test_a_rejection_says_why(ledger: Ledger) -> None:
    case = await pending(ledger)
    due = now() + timedelta(seconds=20)
    card = build_card(await ledger.decisions.reject(case.key, case.version, "ana", "tone: @everyone", due))
    assert card.standing.startswith("ana rejected it (The tone is wrong: @")
    assert "@everyone" not in card.standing


async def test_a_case_in_doubt_asks_whether_it_is_hateful_before_anything_else(ledger: Ledger) -> None:
    case = await ledger.cases.get(await add_doubtful(ledger, post(1)))
    card = build_card(case)
    assert card.title == "Is this hateful at all? · forum"
    assert card.drafted == "none yet; the hate probability is 12 %"
    assert card.evidence == ()
    assert actions(card) == [A.DISMISS, A.DRAFT, A.EDIT, A.REJECT, A.EVIDENCE, A.CLAIM]
    due = now() + timedelta(seconds=20)
    for reason, words in (("not_hateful", "ana dismissed it as not hateful."), ("not_hateful: a quote", "a quote).")):
        dismissed = await ledger.decisions.dismiss(case.key, case.version, "ana", reason, due)
        card = build_card(dismissed)
        assert card.standing.endswith(words)
        assert actions(card) == [A.UNDO, A.EVIDENCE]
        case = await ledger.decisions.undo(case.key, dismissed.version, "ana")


async def test_a_failed_case_can_be_redrafted_once_it_was_grounded(ledger: Ledger) -> None:
    case = await pending(ledger)
    failed = case.model_copy(update={"state": CaseState.FAILED, "error": "The model is away."})
    assert actions(build_card(failed)) == [A.REDRAFT, A.EVIDENCE]
    assert actions(build_card(failed.model_copy(update={"grounding": None}))) == []


async def test_every_text_of_a_hostile_case_is_inert_and_cut(ledger: Ledger) -> None:
    bad = "@everyone https://evil.example " * 300
    key = await add_pending(ledger, post(1, bad[:9_000]), bad[:9_000], evidence=(UNSAFE_LINK,))
    card = build_card(await ledger.cases.get(key))
    shown: list[str] = [card.title, card.post, card.groups, card.draft, card.drafted, card.standing, card.case_key]
    shown += [text for line in card.evidence for text in (line.text, line.title, line.where)]
    for text in shown:
        assert "@everyone" not in text
        assert "://" not in text
        assert len(text) <= 1_200
    assert card.evidence[0].url is None
    assert card.editable == bad[:9_000]


async def test_a_post_that_nobody_can_see_is_said_to_be_one(ledger: Ledger) -> None:
    key = await add_pending(ledger, post(1, "\u200b\u2060"))
    assert build_card(await ledger.cases.get(key)).post == "It has no text that can be read."


def test_only_failed_hard_checks_are_told() -> None:
    soft = Check(name="reach", passed=False, value=1, threshold=0, hard=False)
    hard = Check(name="numbers", passed=False, value=1, threshold=0, detail="1999")
    assert failed_lines((*CHECKS, soft, hard)) == ("fails: figures are backed (1999; 1 of 0)",)


async def test_nobody_in_particular_is_said_to_be_unsure(ledger: Ledger) -> None:
    flagged = post(1)
    await ledger.stages.receive([flagged])
    assert groups_line(await ledger.cases.get(flagged.key)) == "unsure"


async def test_an_escalated_case_is_reopened_handed_over_or_handled_until_somebody_has_seen_to_it(
    ledger: Ledger,
) -> None:
    await ledger.stages.triage(post(1), triage_of(route=Route.ESCALATE))
    case = await ledger.casework.note("forum/post-1", "ben", "They know @everyone.")
    card = build_card(case)
    assert card.state is CaseState.ESCALATED and "escalated" in card.standing
    assert actions(card) == [A.REOPEN, A.HAND_OVER, A.HANDLE]
    assert card.notes == ("ben: They know @\u2060everyone.",)
    case = await ledger.casework.handle(case.key, case.version, "ana", "")
    card = build_card(case)
    assert actions(card) == []
    assert card.standing.endswith("Somebody has seen to it.")
    case = await ledger.casework.appeal(case.key, "site", "It was a joke.")
    assert build_card(case).standing.endswith("An appeal waits.")
    assert actions(build_card(case)) == [A.REOPEN, A.HAND_OVER, A.HANDLE]
