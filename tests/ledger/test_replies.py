"""What an author or a thread was already answered, on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain import CaseState, DraftRequest
from ledger import Ledger
from ledger.replies import LONGEST_REPLY, MOST_REPLIES

APPROVED = "A fair reply. With a source."
NEW = "forum/new"


async def bring(ledger: Ledger, make: Any, number: int | str, text: str, author: str | None = "zed") -> None:
    """Bring a post of the author to the desk with the draft `text`."""
    case = await make.bring(ledger, CaseState.GROUNDED, make.post(number, author_id=author))
    await ledger.stages.draft(make.draft(case.key, text=text))


@pytest.fixture
async def new(ledger: Ledger, make: Any) -> str:
    """Receive a post of the author that has no draft yet."""
    await ledger.stages.receive([make.post("new", author_id="zed")])
    return NEW


async def test_what_lies_at_the_desk_or_was_sent_counts_and_the_latest_comes_first(
    ledger: Ledger, make: Any, clock: Any, new: str
) -> None:
    await make.bring(ledger, CaseState.RELEASED, make.post(1, author_id="zed"))
    clock.pass_s(1)
    await bring(ledger, make, 2, "At the desk. It waits.")
    clock.pass_s(1)
    for number, state in enumerate((CaseState.REJECTED, CaseState.FAILED, CaseState.TRIAGED, CaseState.DISMISSED), 3):
        await make.bring(ledger, state, make.post(number, author_id="zed"))
    assert await ledger.replies.near(new) == ("At the desk. It waits.", APPROVED)
    assert await ledger.replies.near(new, approved_only=True) == (APPROVED,)


async def test_others_and_the_case_itself_do_not_count(ledger: Ledger, make: Any) -> None:
    await bring(ledger, make, 1, "To somebody else. It is fair.", "ann")
    await bring(ledger, make, 2, "To nobody known. It is fair.", None)
    await bring(ledger, make, 3, "To nobody either. It is fair.", None)
    await bring(ledger, make, 4, "Its own. It is fair.")
    elsewhere = make.post(5, platform="chat", author_id="zed")
    await make.bring(ledger, CaseState.PENDING, elsewhere)
    for key in ("forum/4", "forum/3", elsewhere.key, "forum/none", "forum/\0", ""):
        assert await ledger.replies.near(key) == (), key


async def test_of_a_redrafted_case_the_newest_draft_counts(ledger: Ledger, make: Any, new: str) -> None:
    await bring(ledger, make, 1, "The first. It is fair.")
    await ledger.decisions.redraft("forum/1", 4, "ana", DraftRequest(number=2), "message")
    assert await ledger.replies.near(new) == ()
    await ledger.stages.draft(make.draft("forum/1", 2, "The second. It is fair."))
    assert await ledger.replies.near(new) == ("The second. It is fair.",)


async def test_there_is_a_bound_to_cases_and_length_and_empty_ones_are_left_out(
    ledger: Ledger, make: Any, clock: Any, new: str
) -> None:
    for number in range(MOST_REPLIES + 3):
        clock.pass_s(1)
        await bring(ledger, make, number, f"Reply {number}. It is fair.")
    last = MOST_REPLIES + 2
    expected = [f"Reply {number}. It is fair." for number in range(last, last - MOST_REPLIES, -1)]
    assert list(await ledger.replies.near(new)) == expected
    clock.pass_s(1)
    await make.bring_in_doubt(ledger, make.post("doubt", author_id="zed"))
    await bring(ledger, make, "long", "x" * (LONGEST_REPLY + 1))
    assert list(await ledger.replies.near(new)) == expected[:-2]


async def test_what_a_thread_was_answered_counts_whoever_wrote_there(ledger: Ledger, make: Any) -> None:
    there, elsewhere = make.post(1, author_id="ann", thread_id="t1"), make.post(2, author_id="ann", thread_id="t2")
    same_name = make.post(3, platform="chat", author_id="ann", thread_id="t1")
    for number, post in enumerate((there, elsewhere, same_name), 1):
        case = await make.bring(ledger, CaseState.GROUNDED, post)
        await ledger.stages.draft(make.draft(case.key, text=f"Reply {number}. It is fair."))
    await ledger.stages.receive([make.post("new", author_id="zed", thread_id="t1")])
    assert await ledger.replies.near(NEW) == ("Reply 1. It is fair.",)


async def test_a_text_that_author_and_thread_got_comes_once(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.GROUNDED, make.post(1, author_id="zed", thread_id="t1"))
    await ledger.stages.draft(make.draft(case.key, text="The only one. It is fair."))
    await ledger.stages.receive([make.post("new", author_id="zed", thread_id="t1")])
    assert await ledger.replies.near(NEW) == ("The only one. It is fair.",)
