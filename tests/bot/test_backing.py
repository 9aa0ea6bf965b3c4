from __future__ import annotations

import pytest

from bot.backing import answered_claim, awaits_request, marks, used_facts, warnings, writer
from core.domain import Case, Draft, Origin
from ledger import Ledger
from tests.bot.samples import CLAIM, CRC, HEARSAY, add_answered, add_doubtful, add_pending, add_unsure, post


async def answered(ledger: Ledger, hate: float = 0.87) -> Case:
    return await ledger.cases.get(await add_answered(ledger, post(1), hate))


def newest(case: Case) -> Draft:
    assert case.draft
    return case.draft


async def test_a_draft_on_file_tells_its_claim_and_its_fact(ledger: Ledger) -> None:
    case = await answered(ledger)
    assert answered_claim(case) == CLAIM.gist
    assert used_facts(case) == {HEARSAY.id: "the draft says this: on file against the claim"}
    assert writer(newest(case)) == "words on file"


@pytest.mark.parametrize(
    ("origin", "why"),
    [
        (Origin.MODEL, "the draft says this: chosen by the model"),
        (Origin.COMPOSER, "the draft says this"),
    ],
)
async def test_a_fact_that_is_not_there_for_the_claim_says_how_it_got_into_the_draft(
    ledger: Ledger, origin: Origin, why: str
) -> None:
    case = await answered(ledger)
    [candidate] = newest(case).candidates
    other = candidate.model_copy(update={"origin": origin, "claim": ""})
    draft = newest(case).model_copy(update={"candidates": (other,)})
    assert used_facts(case.model_copy(update={"drafts": (draft,)})) == {HEARSAY.id: why}


def test_a_statement_is_marked_in_words() -> None:
    assert marks(CRC) == ()
    assert marks(HEARSAY) == ("contested or one study", "second-hand", "not yet read by a speaker (en)", "Zorblax")


async def test_what_does_not_fit_is_said_one_sentence_each(ledger: Ledger) -> None:
    assert warnings(await answered(ledger, hate=0.34)) == (
        "The hate probability is only 34 %: is this hateful at all?",
        "Its fact is contested or rests on one study.",
        "Its fact is second-hand: a report tells what the source says.",
        "No speaker of English has read its words on file yet.",
    )


@pytest.mark.parametrize(
    ("origin", "warning", "author"),
    [
        (
            Origin.MODEL,
            "A model wrote this: compare every statement with the evidence.",
            "written by the model sample-model",
        ),
        (
            Origin.COMPOSER,
            "No claim on file fits this post: make sure that the reply answers it.",
            "composed from the evidence",
        ),
    ],
)
async def test_a_text_that_is_not_on_file_is_warned_of(
    ledger: Ledger, origin: Origin, warning: str, author: str
) -> None:
    case = await ledger.cases.get(await add_pending(ledger, post(1), origin=origin))
    assert warnings(case) == (warning,)
    assert (answered_claim(case), used_facts(case), writer(newest(case))) == ("", {}, author)


async def test_nothing_is_warned_of_where_no_draft_waits(ledger: Ledger) -> None:
    assert warnings(await ledger.cases.get(await add_doubtful(ledger, post(2)))) == ()
    case = await answered(ledger, hate=0.1)
    decided = await ledger.decisions.reject(case.key, case.version, "ana", "tone", case.updated_at)
    assert warnings(decided) == ()


def unsure(case: Case) -> Case:
    """Return the case as it is where the evidence may not answer its post."""
    assert case.grounding
    claims = tuple(claim.model_copy(update={"unsure": True}) for claim in case.grounding.claims)
    return case.model_copy(update={"grounding": case.grounding.model_copy(update={"claims": claims})})


async def test_a_draft_of_evidence_that_may_not_answer_the_post_says_so(ledger: Ledger) -> None:
    case = await answered(ledger)
    assert not awaits_request(case)
    assert warnings(unsure(case))[0] == "The evidence may not answer this post."
    assert not awaits_request(unsure(case)), "its draft was requested"


async def test_a_case_without_a_draft_whose_evidence_may_not_answer_it_awaits_a_request(ledger: Ledger) -> None:
    case = await ledger.cases.get(await add_unsure(ledger, post(1)))
    assert awaits_request(case)
    rejected = await ledger.decisions.reject(case.key, case.version, "ana", "tone", case.updated_at)
    assert not awaits_request(rejected), "nothing is asked for once it is decided"
    assert not awaits_request(await ledger.cases.get(await add_doubtful(ledger, post(2))))
