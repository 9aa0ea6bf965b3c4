from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.domain import Check
from core.settings import GuardSettings
from pipeline.guard import GuardContext
from pipeline.guard.checks import FunctionCheck
from pipeline.guard.material import material
from pipeline.guard.names import names
from tests.factories import make_evidence

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


def test_a_place_may_be_called_by_another_of_its_names_and_no_other_place(judge: Judge, context: GuardContext) -> None:
    law = make_evidence(text="Sharia law has no jurisdiction in the United Kingdom, the Home Office told us in 2018.")
    british = replace(context, evidence=(law,))
    check = FunctionCheck("names", names, GuardSettings())
    replies = {name: material(f"Everybody in {name} has one law.", british) for name in ("Britain", "Spain", "America")}
    known = {name: check.check(reply, british).passed for name, reply in replies.items()}
    assert known == {"Britain": True, "Spain": False, "America": False}, "it told us nothing of America"


@pytest.mark.parametrize(
    ("told", "said", "known"),
    [
        ("India", "Indiana", False),
        ("India", "Indians", True),
        ("Belgrade", "Belgium", False),
        ("Belgium", "Belgian", True),
        ("Russell", "Russia", False),
        ("Russia", "Russians", True),
        ("Scott", "Scotland", False),
        ("Scotland", "Scottish", True),
        ("Norwich", "Norway", False),
        ("Norway", "Norwegian", True),
        ("Francisco", "France", False),
        ("Francis", "France", False),
        ("Francia", "French", True),
        ("Germany", "German", True),
        ("Alemania", "Germany", True),
        ("Inglewood", "England", False),
        ("Austria", "Australia", False),
        ("Canadian", "Canada", True),
        ("Denmark", "Danish", True),
        ("Italians", "Italy", True),
        ("Spain", "Spanish", True),
        ("Turkish", "Turkey", True),
        ("Swedenborg", "Sweden", False),
        ("Swedish", "Sweden", True),
        ("American", "Mexico", False),
        ("Dutch", "Netherlands", True),
    ],
)
def test_a_country_may_be_called_by_its_other_names_and_not_by_like_ones(
    context: GuardContext, told: str, said: str, known: bool
) -> None:
    evidence = make_evidence(text=f"The committee of {told} counted the votes of women.")
    named = replace(context, evidence=(evidence,))
    check = FunctionCheck("names", names, GuardSettings())
    assert check.check(material(f"Women vote in the {said} committee.", named), named).passed is known
