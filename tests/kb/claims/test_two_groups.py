from __future__ import annotations

import re
from itertools import permutations

import pytest

from core.domain import Intent, TargetGroup
from kb.claims.checking import problems_of_counter
from kb.claims.loading import load_claims
from kb.claims.records import LANGUAGES
from kb.claims.reviews import Reviews
from kb.claims.sheets import lines
from kb.claims.two_groups import naming_both, two_groups

FILED = load_claims()
SLUR = FILED.claims["lgbt-slur-as-insult"]
PAIRS = list(permutations(two_groups().people["en"], 2))


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_every_pair_of_groups_has_words_that_can_stand_on_file(first: TargetGroup, second: TargetGroup) -> None:
    for intent, by_language in two_groups().counters(first, second).items():
        assert set(by_language) == set(LANGUAGES)
        for language, counters in by_language.items():
            assert len(counters) == 3
            for counter in counters:
                assert not list(problems_of_counter(counter, intent, language))
                assert not re.search(r"[{}]", counter)
                for group in (first, second):
                    assert two_groups().people[language][group].casefold() in counter.casefold()


def test_every_group_but_other_has_a_name_in_every_language() -> None:
    for language in LANGUAGES:
        assert set(two_groups().people[language]) == set(TargetGroup) - {TargetGroup.OTHER}


def test_the_facts_are_on_file_and_speak_of_everyone() -> None:
    for fact in (FILED.facts[name] for name in two_groups().facts):
        assert TargetGroup.OTHER in fact.groups
        assert "minorit" not in fact.text["en"], "women and disabled people are none in the sources' sense"


def test_an_insult_beside_another_group_s_is_answered_for_both() -> None:
    groups = [TargetGroup.JEWS, TargetGroup.LGBT]
    claim = naming_both(SLUR, groups, groups, FILED)
    assert claim.id == SLUR.id
    assert claim.facts == two_groups().facts
    for counter in claim.counter[Intent.INFORMATIVE]["en"]:
        assert "LGBT people" in counter and "Jewish people" in counter


@pytest.mark.parametrize("other", [TargetGroup.LGBT, TargetGroup.OTHER, TargetGroup.WOMEN])
def test_a_second_group_that_is_none_or_may_not_be_meant_changes_nothing(other: TargetGroup) -> None:
    assert naming_both(SLUR, [TargetGroup.LGBT, other], [other], FILED) is SLUR


def test_an_entry_whose_own_group_triage_does_not_see_is_answered_as_it_is() -> None:
    assert naming_both(SLUR, [TargetGroup.JEWS], [TargetGroup.JEWS], FILED) is SLUR


def test_an_entry_of_one_s_own_keeps_its_words() -> None:
    own = SLUR.model_copy()
    groups = [TargetGroup.LGBT, TargetGroup.JEWS]
    assert naming_both(own, groups, groups, FILED) is own


def test_what_is_no_insult_is_answered_as_it_is() -> None:
    claim = FILED.claims["muslims-terrorists"]
    assert naming_both(claim, [TargetGroup.MUSLIMS, TargetGroup.JEWS], [TargetGroup.JEWS], FILED) is claim


def test_a_sentence_is_reviewed_for_every_pair_once_a_speaker_has_read_its_form() -> None:
    form = two_groups().counter[Intent.POSITIVE]["es"][1]
    assert form in {line.sentence for line in lines(FILED, "es", Reviews())}
    reviews = two_groups().with_filled_in(Reviews().with_read([(form, "es")]))
    read, *others = (two_groups().counters(*PAIRS[0])[Intent.POSITIVE]["es"][number] for number in (1, 0, 2))
    assert not reviews.provisional(read, "es")
    assert all(reviews.provisional(other, "es") for other in others)
