"""The stages without Kafka: what each sends on, and that a message may come twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.domain import (
    CaseState,
    Draft,
    DraftRequest,
    FlaggedPost,
    Grounding,
    Intent,
    Route,
    StrategyName,
    Triage,
)
from core.errors import BadMessage
from ledger import Ledger
from stream.messages import Grounded, Triaged, encode
from stream.stages import DeskStage, DraftStage, GroundStage, TriageStage
from tests.factories import make_draft, make_grounding, make_post, make_triage
from tests.new_ledger import KEY, new_sqlite

POST = make_post(author_id="zed", thread_id="thread-7", context=("An earlier reply.",))


class Triager:
    """A triager with one verdict for every post, and with what was called a duplicate."""

    def __init__(self, route: Route = Route.DRAFT) -> None:
        self.route = route
        self.duplicates: list[str | None] = []

    async def triage(self, post: FlaggedPost, *, duplicate_of: str | None = None) -> Triage:
        self.duplicates.append(duplicate_of)
        return make_triage(route=self.route)


class Grounder:
    """A finder of one statement, with whether its last call was the last attempt."""

    last_attempt = False

    async def ground(
        self, post: FlaggedPost, triage: Triage, *, strategy: StrategyName | None = None, last_attempt: bool = False
    ) -> Grounding:
        self.last_attempt = last_attempt
        return make_grounding()


class Drafter:
    """A drafter of one text, with the count of its calls and what the last one was to avoid."""

    calls = 0
    avoided: tuple[str, ...] = ()

    async def draft(
        self,
        post: FlaggedPost,
        triage: Triage,
        grounding: Grounding,
        request: DraftRequest,
        *,
        last_attempt: bool = False,
    ) -> Draft:
        self.calls += 1
        self.avoided = request.avoid
        return make_draft(post.key, request.number, intent=request.intent)


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    opened = await Ledger.open(new_sqlite(tmp_path), KEY)
    yield opened
    await opened.close()


async def state(ledger: Ledger) -> CaseState:
    return (await ledger.cases.get(POST.key)).state


async def walk(ledger: Ledger) -> tuple[bytes, bytes, bytes]:
    """Bring the post to the desk and return the messages on the way: triaged, grounded, drafts."""
    triaged = await TriageStage(ledger, Triager()).handle(encode(POST))
    assert triaged
    grounded = await GroundStage(ledger, Grounder(), Intent.POSITIVE).handle(encode(triaged.record))
    assert grounded
    drafted = await DraftStage(ledger, Drafter()).handle(encode(grounded.record))
    assert drafted
    await DeskStage(ledger).handle(encode(drafted.record))
    return encode(triaged.record), encode(grounded.record), encode(drafted.record)


async def test_a_post_goes_from_flag_to_the_desk(ledger: Ledger) -> None:
    triaged, grounded, _ = await walk(ledger)
    case = await ledger.cases.get(POST.key)
    assert case.state is CaseState.PENDING
    assert case.draft is not None and case.draft.intent is Intent.POSITIVE
    beyond = Triaged.model_validate_json(triaged).post
    assert (beyond.author_id, beyond.thread_id) == (None, None), "the ids go no further than triage"
    message = Grounded.model_validate_json(grounded)
    assert (message.post.context, message.request.avoid) == (("An earlier reply.",), ()), "the thread travels once"


async def test_a_draft_avoids_what_its_author_was_answered_and_nothing_more_is_stored(ledger: Ledger) -> None:
    await walk(ledger)
    answered = (await ledger.cases.get(POST.key)).drafts[0].text
    for number, author, avoided in ((2, "zed", (answered,)), (3, "ann", ())):
        post = make_post(number, "Zorblaxians again.", author_id=author)
        triaged = await TriageStage(ledger, Triager()).handle(encode(post))
        assert triaged
        grounded = await GroundStage(ledger, Grounder(), Intent.POSITIVE).handle(encode(triaged.record))
        assert grounded
        drafter = Drafter()
        await DraftStage(ledger, drafter).handle(encode(grounded.record))
        assert drafter.avoided == avoided
        assert (await ledger.cases.get(post.key)).request.avoid == ()


async def test_of_two_texts_with_one_key_the_first_one_is_worked_on(ledger: Ledger) -> None:
    """What moderators see beside a draft must be what was triaged and answered, whichever message comes first."""
    seen: list[FlaggedPost] = []

    class Reader(Triager):
        async def triage(self, post: FlaggedPost, *, duplicate_of: str | None = None) -> Triage:
            seen.append(post)
            return await super().triage(post, duplicate_of=duplicate_of)

    await ledger.stages.receive([POST])
    changed = POST.model_copy(update={"text": "A kind word about the harbour."})
    outgoing = await TriageStage(ledger, Reader()).handle(encode(changed))
    assert outgoing is not None and isinstance(outgoing.record, Triaged)
    assert seen[0].text == outgoing.record.post.text == (await ledger.cases.get(POST.key)).post.text == POST.text
    assert seen[0].author_id == POST.author_id


async def test_every_message_may_come_twice_and_the_case_stays_one(ledger: Ledger) -> None:
    triaged, grounded, drafts = await walk(ledger)
    drafter = Drafter()
    assert await TriageStage(ledger, Triager()).handle(encode(POST)) is None
    assert await GroundStage(ledger, Grounder(), Intent.POSITIVE).handle(triaged) is None
    assert await DraftStage(ledger, drafter).handle(grounded) is None
    assert await DeskStage(ledger).handle(drafts) is None
    assert drafter.calls == 0, "a draft that is no longer wanted costs no model call"
    assert len((await ledger.cases.get(POST.key)).drafts) == 1


async def test_a_crash_before_the_send_is_made_good_when_the_message_comes_again(ledger: Ledger) -> None:
    stage = TriageStage(ledger, Triager())
    first = await stage.handle(encode(POST))
    again = await stage.handle(encode(POST))
    assert first == again and first is not None and isinstance(first.record, Triaged)


async def test_the_grounder_is_told_of_the_last_attempt(ledger: Ledger) -> None:
    grounder = Grounder()
    triaged = await TriageStage(ledger, Triager()).handle(encode(POST))
    assert triaged
    await GroundStage(ledger, grounder, Intent.POSITIVE).handle(encode(triaged.record), last_attempt=True)
    assert grounder.last_attempt


@pytest.mark.parametrize(
    ("route", "end"), [(Route.DISMISS, CaseState.DISMISSED), (Route.ESCALATE, CaseState.ESCALATED)]
)
async def test_what_is_dismissed_or_escalated_ends_at_triage(ledger: Ledger, route: Route, end: CaseState) -> None:
    assert await TriageStage(ledger, Triager(route)).handle(encode(POST)) is None
    assert await state(ledger) is end


async def test_a_post_in_doubt_goes_on_to_the_desk(ledger: Ledger) -> None:
    triaged = await TriageStage(ledger, Triager(Route.DOUBT)).handle(encode(POST))
    assert triaged is not None
    assert await state(ledger) is CaseState.TRIAGED


async def test_triage_is_told_of_the_same_text_by_the_same_author(ledger: Ledger) -> None:
    triager = Triager()
    stage = TriageStage(ledger, triager)
    await stage.handle(encode(POST))
    await stage.handle(encode(POST.model_copy(update={"post_id": "2"})))
    assert triager.duplicates == [None, POST.key]


async def test_a_draft_for_a_case_nobody_knows_is_dropped(ledger: Ledger) -> None:
    message = Grounded(post=POST, triage=make_triage(), grounding=make_grounding(), request=DraftRequest())
    assert await DraftStage(ledger, Drafter()).handle(encode(message)) is None


async def test_every_stage_refuses_what_is_not_its_record(ledger: Ledger) -> None:
    for stage in (
        TriageStage(ledger, Triager()),
        GroundStage(ledger, Grounder(), Intent.POSITIVE),
        DraftStage(ledger, Drafter()),
        DeskStage(ledger),
    ):
        with pytest.raises(BadMessage):
            await stage.handle(b'{"nonsense": true}')


async def test_a_flag_that_comes_again_is_not_triaged_again(ledger: Ledger) -> None:
    first = await TriageStage(ledger, Triager()).handle(encode(POST))
    triager = Triager(Route.DISMISS)
    again = await TriageStage(ledger, triager).handle(encode(POST))
    assert first and again and again.record == first.record, "what was found before is sent on"
    await walk(ledger)
    assert await TriageStage(ledger, triager).handle(encode(POST)) is None
    assert triager.duplicates == []


async def test_evidence_is_not_looked_for_again(ledger: Ledger) -> None:
    triaged = await TriageStage(ledger, Triager()).handle(encode(POST))
    assert triaged
    first = await GroundStage(ledger, Grounder(), Intent.POSITIVE).handle(encode(triaged.record))
    grounder = Grounder()
    stage = GroundStage(ledger, grounder, Intent.INFORMATIVE)
    again = await stage.handle(encode(triaged.record), last_attempt=True)
    assert first and again
    assert (again.key, encode(again.record)) == (first.key, encode(first.record)), "what was found before is sent on"
    drafted = await DraftStage(ledger, Drafter()).handle(encode(again.record))
    assert drafted
    await DeskStage(ledger).handle(encode(drafted.record))
    assert await stage.handle(encode(triaged.record), last_attempt=True) is None
    assert not grounder.last_attempt, "it was never asked"
