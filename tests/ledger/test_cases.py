from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy
from sqlalchemy.ext.asyncio import create_async_engine

from core.domain import Candidate, Case, CaseState, Check, DraftRequest, Origin, Route, TargetGroup
from core.errors import BadInput, CaseNotFound
from ledger import Ledger
from ledger.cases import MAX_CHANGES


def ids(cases: Sequence[Case]) -> list[str]:
    return [case.post.post_id for case in cases]


async def uncarded(ledger: Ledger) -> list[str]:
    return [case.key for case in await ledger.cards.missing("discord", "1")]


async def every_page(ledger: Ledger, **query: Any) -> list[str]:
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await ledger.cases.page(limit=3, cursor=cursor, **query)
        assert len(page.cases) <= 3
        seen += ids(page.cases)
        if page.next_cursor is None:
            return seen
        cursor = page.next_cursor


async def test_a_case_that_is_not_there(ledger: Ledger) -> None:
    for key in ("forum/none", "", "forum/\0", "forum/\ud800"):
        with pytest.raises(CaseNotFound, match="there is no case"):
            await ledger.cases.get(key)


async def test_pages_go_by_time_received_then_key_both_ways(ledger: Ledger, make: Any, clock: Any) -> None:
    for batch in (["b", "a"], ["d", "c", "e"], ["f", "g"]):
        await ledger.stages.receive([make.post(name) for name in batch])
        clock.pass_s(1)
    assert await every_page(ledger) == list("abcdefg")
    assert await every_page(ledger, oldest_first=False) == list("gfedcba")


async def test_lists_leave_out_the_candidates_that_the_case_itself_has(ledger: Ledger, make: Any) -> None:
    checks = (Check(name="length", passed=True, value=9, threshold=280),)
    candidates = tuple(Candidate(text=text, origin=Origin.MODEL, checks=checks) for text in ("One. Two.", "Three."))
    draft = make.draft("forum/1", checks=checks).model_copy(update={"candidates": candidates})
    await make.bring(ledger, CaseState.GROUNDED, make.post(1))
    await ledger.stages.draft(draft)
    case = await ledger.cases.get("forum/1")
    assert case.drafts == (draft,)
    bare = case.model_copy(update={"drafts": (draft.model_copy(update={"candidates": ()}),)})
    assert (await ledger.cases.page()).cases == (bare,)
    assert await ledger.cases.named(["forum/gone", "forum/1"]) == [bare]


async def test_words_are_found_in_posts_drafts_replies_keys_and_groups(ledger: Ledger, make: Any, clock: Any) -> None:
    posts = {"plain": "ÑANDÚ and 100% of \\ Harbour", "key-7": "Moons", "a": "Zorblax", "b": "Zorblax again", "c": "So"}
    drafts = {"a": "A ramp at the pier. It serves all.", "c": "A zeppelin\0 is moored. It waits."}
    for name, text in posts.items():
        await ledger.stages.receive([make.post(name, text)])
    unseen = Candidate(text="Unseen words.", origin=Origin.MODEL, checks=())
    for name, text in drafts.items():
        await make.bring(ledger, CaseState.GROUNDED, make.post(name, posts[name]))
        draft = make.draft(f"forum/{name}", text=text)
        await ledger.stages.draft(draft.model_copy(update={"candidates": (unseen,) if name == "a" else ()}))
    sent = await make.bring(ledger, CaseState.PENDING, make.post("b", posts["b"]))
    await ledger.decisions.approve(sent.key, sent.version, "ana", "Own lantern. Two.", "edited", clock())
    for search, expected in {
        "ñandú": ["plain"], "100% harbour": ["plain"], "\\ harbour": ["plain"], "10_%": [], "zorblax": ["a", "b"],
        "RAMP pier": ["a"], "ramp lantern": [], "lantern": ["b"], "key-7": ["key-7"], "unseen": [],
        "zeppelin moored": ["c"], "migrants": ["a", "b", "c"], "Migrants lantern": ["b"], "' OR 1=1 --": [],
        "  ": sorted(posts),
    }.items():  # fmt: skip
        assert sorted(ids((await ledger.cases.page(search=search)).cases)) == expected, search


async def test_a_full_last_page_has_no_next(ledger: Ledger, make: Any) -> None:
    await ledger.stages.receive([make.post(number) for number in range(3)])
    assert (await ledger.cases.page(limit=3)).next_cursor is None
    assert (await ledger.cases.page(limit=2)).next_cursor is not None
    assert (await ledger.cases.page(states=[CaseState.FAILED])).cases == ()


async def test_paging_shows_each_case_once_while_others_come_and_move(ledger: Ledger, make: Any, clock: Any) -> None:
    for number in range(10, 20):
        await make.bring(ledger, CaseState.RECEIVED, make.post(number))
        clock.pass_s(1)
    seen: list[str] = []
    cursor: str | None = None
    for round in range(4):
        page = await ledger.cases.page(limit=3, cursor=cursor)
        seen += ids(page.cases)
        cursor = page.next_cursor
        await ledger.stages.receive([make.post(30 + round)])
        await ledger.stages.triage(make.post(10 + round), make.triage())
        clock.pass_s(1)
    assert seen == [*map(str, range(10, 20)), "30", "31"]


async def test_filters_combine(ledger: Ledger, make: Any, clock: Any) -> None:
    women, jews = TargetGroup.WOMEN, TargetGroup.JEWS
    for name, groups in (("w", [women]), ("j", [jews]), ("both", [women, jews])):
        post = make.post(name, platform="chat" if name == "j" else "forum")
        await ledger.stages.receive([post])
        await ledger.stages.triage(post, make.triage(Route.DRAFT, *groups))
    await make.bring(ledger, CaseState.RECEIVED, make.post("untriaged"))
    case = await make.bring(ledger, CaseState.PENDING, make.post("held"))
    await ledger.decisions.claim(case.key, case.version, "ana", clock() + timedelta(minutes=1))
    assert await every_page(ledger, group=women) == ["both", "w"]
    assert await every_page(ledger, group=jews) == ["j", "both"]
    assert await every_page(ledger, group=jews, platform="forum") == ["both"]
    assert await every_page(ledger, claimed_by="ana") == ["held"]
    assert await every_page(ledger, states=[CaseState.RECEIVED, CaseState.PENDING]) == ["held", "untriaged"]
    assert await every_page(ledger, platform="\0") == []


@pytest.mark.parametrize(
    "cursor",
    ["", "nonsense", "ünï", "bnVsbA==", *(base64.urlsafe_b64encode(json.encode()).decode() for json in (
        "[]", '["2026"]', '["yesterday", "k"]', '[1, "k"]', '["2026-01-01T00:00:00+00:00", 1]', "[" * 5000,
        '["0001-01-01T00:00:00+14:00", "k"]', '{"a": 1, "b": 2}',
    ))],
)  # fmt: skip
async def test_a_foreign_cursor_is_bad_input(ledger: Ledger, cursor: str) -> None:
    with pytest.raises(BadInput, match="cursor"):
        await ledger.cases.page(cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 1001])
async def test_a_page_has_a_sane_size(ledger: Ledger, limit: int) -> None:
    with pytest.raises(BadInput, match="1 to 1000"):
        await ledger.cases.page(limit=limit)


async def test_counts_name_every_state(ledger: Ledger, make: Any) -> None:
    for number, state in enumerate(CaseState):
        await make.bring(ledger, state, make.post(number))
    assert await ledger.cases.counts() == dict.fromkeys(CaseState, 1)


async def test_cases_in_doubt_are_a_queue_of_their_own_until_somebody_asks_for_a_draft(
    ledger: Ledger, make: Any
) -> None:
    await make.bring(ledger, CaseState.PENDING, make.post("plain"))
    case = await make.bring_in_doubt(ledger, make.post("doubt"))
    await make.bring_in_doubt(ledger, make.post("other"))
    pending = [CaseState.PENDING]
    assert await every_page(ledger, states=pending, doubtful=True) == ["doubt", "other"]
    assert await every_page(ledger, states=pending, doubtful=False) == ["plain"]
    assert await every_page(ledger, states=pending) == ["doubt", "other", "plain"]
    assert (await ledger.cases.count_doubtful(), (await ledger.cases.counts())[CaseState.PENDING]) == (2, 3)
    assert await uncarded(ledger) == ["forum/plain"]
    await ledger.decisions.redraft(case.key, case.version, "ana", DraftRequest(number=2), "message")
    await ledger.stages.draft(make.draft(case.key, 2))
    after = await ledger.cases.get(case.key)
    assert (after.state, after.doubtful) == (CaseState.PENDING, False)
    assert await every_page(ledger, states=pending, doubtful=True) == ["other"]
    assert await uncarded(ledger) == ["forum/doubt", "forum/plain"]
    assert await ledger.cases.count_doubtful() == 1


async def test_stale_cases_are_those_the_machine_left_lying(ledger: Ledger, make: Any, clock: Any) -> None:
    for number, state in enumerate(CaseState):
        await make.bring(ledger, state, make.post(number))
        clock.pass_s(1)
    before = clock()
    assert await ledger.cases.stale(before - timedelta(seconds=60), 10) == []
    stale = await ledger.cases.stale(before, 10)
    assert [case.state.value for case in stale] == ["received", "triaged", "grounded"]
    assert len(await ledger.cases.stale(before, 2)) == 2
    await ledger.cases.touch([case.key for case in stale[:2]])
    assert [case.state.value for case in await ledger.cases.stale(before, 10)] == ["grounded"]
    assert (await ledger.cases.get(stale[0].key)).version == stale[0].version
    await ledger.cases.touch([])


@pytest.mark.parametrize("text", [
    "\N{PILE OF POO}\N{ZERO WIDTH JOINER}\U0001f3f3\ufe0f", "שלום \u202eevil\u202c مرحبا", "<script>alert(1)</script>",
    "'; DROP TABLE cases; --", "%s %(x)s :key ?", "e\u0301 \ufeff \uffff", "line\nbreak\ttab", "x" * 20_000,
])  # fmt: skip
async def test_text_comes_back_as_it_was_given(ledger: Ledger, make: Any, clock: Any, text: str) -> None:
    case = await make.bring(ledger, CaseState.PENDING, make.post(text=text, author_id=text[:100], reason=text[:100]))
    assert case.post.text == text
    approved = await ledger.decisions.approve(case.key, case.version, text[:50], text, text, clock())
    assert (approved.final_text, approved.decided_by, approved.decided_why) == (text, text[:50], text)
    assert await ledger.cases.get(case.key) == approved


async def test_a_nul_anywhere_is_dropped_or_escaped(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.PENDING, make.post("nul\0", text="a\0b"))
    assert (case.key, case.post.text) == ("forum/nul", "ab")
    draft = make.draft(case.key, 2, "from the model\0")
    request = DraftRequest(number=2, hint="hi\0nt")
    await ledger.decisions.redraft(case.key + "\0", case.version, "an\0a", request, "message")
    await ledger.stages.draft(draft)
    after = await ledger.cases.get("forum/nul")
    assert after.drafts[-1] == draft
    rejected = await ledger.decisions.reject(case.key, after.version, "b\0o", "n\0o", clock())
    assert (rejected.decided_by, rejected.decided_why) == ("bo", "no")


async def test_counts_that_another_process_has_summed_up_meanwhile_stay(
    ledger: Ledger, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That process has left no row to sum up, as if there were none at all."""
    monkeypatch.setattr("ledger.cases.MAX_CHANGES", -1)
    await ledger.cases.sum_up_counts()
    assert not any((await ledger.cases.counts()).values())


async def test_counts_follow_every_change_of_a_case_and_stay_when_they_are_summed_up(
    ledger: Ledger, make: Any, url: str
) -> None:
    await make.bring(ledger, CaseState.RELEASED, make.post(1))
    await make.bring(ledger, CaseState.PENDING, make.post(2))
    await ledger.stages.receive([make.post(3), make.post(3), make.post(4)])
    await ledger.stages.receive([make.post(4)])
    counted = {state: number for state, number in (await ledger.cases.counts()).items() if number}
    assert counted == {CaseState.RELEASED: 1, CaseState.PENDING: 1, CaseState.RECEIVED: 2}

    await asyncio.gather(
        ledger.stages.receive([make.post(number) for number in range(10, 10 + MAX_CHANGES)]),
        ledger.cases.sum_up_counts(),
        ledger.cases.sum_up_counts(),
    )
    await asyncio.gather(ledger.cases.sum_up_counts(), ledger.cases.sum_up_counts())
    assert (await ledger.cases.counts())[CaseState.RECEIVED] == 2 + MAX_CHANGES
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        changes = (await connection.execute(sqlalchemy.text("SELECT count(*) FROM state_counts"))).scalar_one()
    await engine.dispose()
    assert changes < 10
