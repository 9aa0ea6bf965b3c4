from __future__ import annotations

from collections.abc import Callable

import pytest

from core.domain import Check

Judge = Callable[..., Check]


@pytest.mark.parametrize(
    "text",
    [
        "Under CEDAW women vote.",
        "The United Nations says so.",
        "The UN General Assembly counts.",
        "Everyone deserves respect.",
        "Diversity helps us all.",
        "Our Muslim and Jewish neighbours agree, and so do I.",
        "The Convention on the Elimination of All Forms of Discrimination against Women is clear.",
        "Women's rights count.",
        "I think so, and I'm glad.",
        "She said: “Women vote.”",
        "What about CEDAW's promise?",
    ],
)
def test_names_of_the_evidence_its_source_and_target_groups_pass(judge: Judge, text: str) -> None:
    check = judge("names", text)
    assert check.passed, check.detail


@pytest.mark.parametrize(
    "text",
    [
        "According to Amnesty International, women vote.",
        "Germany lets women vote.",
        "Angela Example was elected.",
        "The WHO says so.",
        "UNESCO says so.",
        "As Martin Example put it, all are equal.",
        "In France women vote.",
        "Studies show that women vote.",
        "Experts agree on this.",
        "The Istanbul Convention says so.",
        "Research proves it.",
        "Wikipedia explains it.",
        "The majority of women vote.",
    ],
)
def test_invented_names_and_appeals_fail(judge: Judge, text: str) -> None:
    assert not judge("names", text).passed


def test_a_name_in_the_post_may_be_repeated(judge: Judge) -> None:
    assert judge("names", "What happens in Zorblaxia is no reason to blame anyone.", post="look at zorblaxia").passed


def test_german_nouns_are_no_names_but_countries_and_acronyms_are(judge: Judge) -> None:
    assert judge("names", "Alle Menschen haben die gleiche Würde und das gleiche Recht.", language="de").passed
    assert not judge("names", "In Frankreich gilt das auch.", language="de").passed
    assert not judge("names", "Das sagt auch die WHO.", language="de").passed
