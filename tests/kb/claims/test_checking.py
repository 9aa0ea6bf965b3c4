"""What `kb claims check` finds: every kind of bad data, with the file and the line."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from core.errors import KnowledgeBaseError
from kb.claims.checking import figures, problems, without_faulty
from kb.claims.loading import load_claims
from kb.claims.records import Language
from tests.kb.claims.conftest import change

CLAIMS, FACTS = "claims/other.toml", "facts/other.toml"

WRONG = [
    (CLAIMS, 'facts = ["other-boats-survey"]', "facts = []", "no fact answers it"),
    (CLAIMS, 'facts = ["other-boats-survey"]', 'facts = ["other-gone"]', "no fact is called 'other-gone'"),
    (CLAIMS, ', "no boats 5 it"', "", "5 wordings in it; 6 are needed"),
    (CLAIMS, ', eu = "Itsasontzirik ez."', "", "no gist in eu"),
    (CLAIMS, 'kind = "claim"', 'kind = "claim"\ncommon = true', "1 informative counter-claims in en; 3 needed"),
    (CLAIMS, '"Zorblaxians sail in es."', '"Zorblaxians sail. They do in es."', "not one whole sentence"),
    (CLAIMS, '"Zorblaxians sail in it."', '"Zorblaxians sail 3 boats."', "a counter-claim holds no figure"),
    (CLAIMS, '"Zorblaxians sail in eu?"', '"Zorblaxians sail in eu."', "ends with a question mark"),
    (CLAIMS, '"Zorblaxians sail in en."', f'"Zorblaxians {"sail and " * 20}swim."', "160 at most"),
    (CLAIMS, 'kind = "claim"', 'kind = "claim"\ninstead_of = "other-ships"', "no claim is called that"),
    (CLAIMS, 'kind = "claim"', 'kind = "claim"\ninstead_of = "other-no-boats"', "stands in for a claim itself"),
    (CLAIMS, 'kind = "claim"', 'kind = "insult"', "no norm answers this insult"),
    (CLAIMS, 'kind = "claim"', 'kind = "exclusion"', "a finding comes first, which answers no exclusion"),
    (CLAIMS, 'id = "other-no-boats"', 'id = "boats"', "an id here begins with 'other-'"),
    (FACTS, "1.250 barcos, 3,5", "1.250 barcos, 3,6", "es: figures {3.6, 1250, 2020} differ from English"),
    (FACTS, "2020 contò 1.250", "2020 contò 1.205", "it: figures {3.5, 1205, 2020} differ from English"),
    (FACTS, 'eu = "2020ko Portuko Inkestak 1.250 itsasontzi ikusi zituen."\n', "", "no short in eu"),
    (FACTS, "Encuesta del Puerto de 2020", "Encuesta de 2020", "es: does not name its speaker"),
    (FACTS, "The Harbour Survey of 2020 saw", "Zorblax, 2020: the Harbour Survey saw", "begins like a note"),
    (FACTS, "The Harbour Survey of 2020 counted", "Little evidence that the Harbour Survey of 2020 missed", "a note"),
    (FACTS, "Survey of 2020 counted", "Survey counted", "does not name the year 2020"),
    (FACTS, '"1,250", "3.5"', '"1,250", "3.5", "8"', "the figure 8 is not in the text"),
    (FACTS, '"1,250", "3.5"', '"1,250"', "text: {3.5} not among its figures"),
    (FACTS, "reviewed_at", 'quote = "1250 boats"\nreviewed_at', "the figure 3.5 is not in the quote"),
    (FACTS, "Survey of 2020 saw 1,250", "Survey of 2020 saw 12 of 1,250", "short: {12} not among its figures"),
    (FACTS, "1,250 boats.", f"1,250 boats{' and boats' * 20}.", "140 at most"),
    (FACTS, 'region = "Zorblax"', 'region = "zorblax"', "no region is called 'zorblax'"),
    (FACTS, 'speaker = "survey"', 'speaker = "nobody"', "no speaker is called 'nobody'"),
    (FACTS, "reviewed_at", 'superseded_by = "other-newer"\nreviewed_at', "is superseded by 'other-newer'"),
    (FACTS, "reviewed_at", 'superseded_by = "other-newer"\nreviewed_at', "no fact is called 'other-newer'"),
]


def test_nothing_is_wrong_with_what_is_whole(folder: Path) -> None:
    assert problems(load_claims(shipped=folder)) == []


def test_nothing_is_wrong_with_what_is_shipped() -> None:
    assert [str(problem) for problem in problems(load_claims())] == []


@pytest.mark.parametrize(("file", "before", "after", "message"), WRONG, ids=[wrong[3] for wrong in WRONG])
def test_what_is_wrong_is_named_with_file_and_line(
    folder: Path, file: str, before: str, after: str, message: str
) -> None:
    change(folder / file, before, after)
    listed = [str(problem) for problem in problems(load_claims(shipped=folder))]
    assert any(message in problem for problem in listed)
    first_line = {CLAIMS: 2, FACTS: 7}
    assert all(
        problem.startswith((f"kb/{CLAIMS}:{first_line[CLAIMS]}: ", f"kb/{FACTS}:{first_line[FACTS]}: "))
        for problem in listed
    )


@pytest.mark.parametrize(
    ("file", "before", "after", "message"),
    [
        (CLAIMS, 'kind = "claim"', 'kind = "rumour"', r"kb/claims/other\.toml:2: 'other-no-boats', kind"),
        (CLAIMS, "[[claim]]", "[[claim]]\nid =", "not readable TOML"),
        (FACTS, "year = 2020", "year = 20", r"kb/facts/other\.toml:7: 'other-boats-survey', year"),
        (FACTS, 'groups = ["other"]', 'groups = ["sailors"]', r"kb/facts/other\.toml:7: .*groups"),
        (FACTS, "[fact.text]\nen", "[fact.text]\nxx", r"kb/facts/other\.toml:7"),
        (FACTS, '["Zorblax"]', '"Zorblax"', r"kb/facts/other\.toml:1: regions is not a list"),
        (FACTS, "[speakers]", "[speakers.crew]\nen = 1\n[speakers]", r"kb/facts/other\.toml:3: speaker 'crew'"),
        (FACTS, "survey = {", "survey = {xx = [], ", r"kb/facts/other\.toml:4: speaker 'survey'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    folder: Path, file: str, before: str, after: str, message: str
) -> None:
    change(folder / file, before, after)
    with pytest.raises(KnowledgeBaseError, match=message):
        load_claims(shipped=folder)


def test_a_file_of_an_unknown_group_is_refused(folder: Path) -> None:
    (folder / CLAIMS).rename(folder / "claims" / "sailors.toml")
    with pytest.raises(KnowledgeBaseError, match=r"sailors\.toml: no target group has this name"):
        load_claims(shipped=folder)


def test_an_id_may_stand_once(folder: Path) -> None:
    text = (folder / FACTS).read_text(encoding="utf-8")
    (folder / FACTS).write_text(text + text[text.index("[[fact]]") :], encoding="utf-8")
    with pytest.raises(KnowledgeBaseError, match=r"is already at kb/facts/other\.toml:7"):
        load_claims(shipped=folder)


def test_a_superseded_fact_stays_on_file_and_no_claim_may_name_it(folder: Path) -> None:
    change(folder / FACTS, "reviewed_at", 'superseded_by = "other-udhr-1"\nreviewed_at')
    (problem,) = problems(load_claims(folder), f"{folder}/")
    assert problem.message == "fact 'other-boats-survey' is superseded by 'other-udhr-1'"
    change(folder / CLAIMS, '["other-boats-survey"]', '["other-udhr-1"]')
    assert problems(load_claims(folder), f"{folder}/") == []


WITHOUT_YEAR = (
    ("The Harbour Survey of 2020 saw", "The Harbour Survey saw"),
    ("Encuesta del Puerto 2020", "Encuesta del Puerto"),
    ("Indagine del Porto 2020", "Indagine del Porto"),
    ("2020ko Portuko Inkestak 1.250 itsasontzi ikusi", "Portuko Inkestak 1.250 itsasontzi ikusi"),
)


def test_a_short_form_names_a_year_if_it_has_room(folder: Path) -> None:
    for before, after in WITHOUT_YEAR:
        change(folder / FACTS, before, after)
    (problem,) = problems(load_claims(folder), f"{folder}/")
    assert problem.message == "short names no year, though each language has room for it: add '(2020)'"
    change(folder / FACTS, "vio 1.250 barcos", f"vio 1.250 barcos{' y barcos' * 10}, sí")
    assert problems(load_claims(folder), f"{folder}/") == [], "Spanish has no room, and figures are the same in all"


def test_an_own_fact_whose_short_form_names_no_year_is_still_used(folder: Path) -> None:
    for before, after in WITHOUT_YEAR:
        change(folder / FACTS, before, after)
    assert "other-boats-survey" in without_faulty(load_claims(folder), folder).facts


def test_a_year_to_come_does_not_date_a_fact(folder: Path) -> None:
    for before, after in WITHOUT_YEAR:
        change(folder / FACTS, before, after)
    text = (folder / FACTS).read_text(encoding="utf-8")
    (folder / FACTS).write_text(text.replace("1.250", "2050").replace("1,250", "2050"), encoding="utf-8")
    (problem,) = problems(load_claims(folder), f"{folder}/")
    assert "short names no year" in problem.message


def test_contempt_begins_with_a_finding_only_for_a_reason(folder: Path) -> None:
    change(folder / CLAIMS, 'kind = "claim"', 'kind = "dehumanisation"\nfinding_first = "it denies boats"')
    change(folder / CLAIMS, '["other-boats-survey"]', '["other-boats-survey", "other-udhr-1"]')
    assert problems(load_claims(folder), f"{folder}/") == []
    change(folder / CLAIMS, '["other-boats-survey", "other-udhr-1"]', '["other-udhr-1", "other-boats-survey"]')
    (problem,) = problems(load_claims(folder), f"{folder}/")
    assert "no finding comes first: remove it" in problem.message


def test_two_claims_of_a_group_have_no_wording_in_common(folder: Path) -> None:
    text = (folder / CLAIMS).read_text(encoding="utf-8")
    (folder / CLAIMS).write_text(text + text.replace("other-no-boats", "other-no-sails"), encoding="utf-8")
    listed = [problem.message for problem in problems(load_claims(shipped=folder))]
    assert "en: 'no boats 0 en' is a wording of 'other-no-boats' too" in listed


def test_own_claims_stand_beside_the_shipped_ones(folder: Path) -> None:
    shipped, both = load_claims(), load_claims(folder)
    assert set(both.claims) - set(shipped.claims) == {"other-no-boats"}
    assert str(both.places["other-no-boats"]) == f"{folder}/claims/other.toml:2"
    assert all(both.claims[name] is claim for name, claim in shipped.claims.items()), (
        "read once, not beside each folder"
    )


def test_own_entries_with_something_to_correct_are_left_out_with_a_warning_each(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = (folder / CLAIMS).read_text(encoding="utf-8")
    begun = text.replace('it = "Senza barche.", ', "").replace("boats", "sails").replace("other-sails", "other-boats")
    depends = text.replace("boats", "oars").replace("other-oars-survey", "other-nothing")
    (folder / CLAIMS).write_text(text + begun + depends, encoding="utf-8")
    usable = without_faulty(load_claims(folder), folder)
    assert set(usable.claims) - set(load_claims().claims) == {"other-no-boats"}
    assert set(usable.facts) - set(load_claims().facts) == {"other-boats-survey"}
    assert sorted(record.message.partition(": ")[2].split(". ")[0] for record in caplog.records) == [
        "other-no-oars: no fact is called 'other-nothing'",
        "other-no-sails: no gist in it",
    ]


def test_an_own_claim_of_a_faulty_fact_is_left_out_too(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    change(folder / FACTS, 'eu = "2020ko Portuko Inkestak 1.250 itsasontzi ikusi zituen."\n', "")
    usable, shipped = without_faulty(load_claims(folder), folder), load_claims()
    assert (usable.claims, usable.facts) == (shipped.claims, shipped.facts)
    assert [record.message.split(": ")[1] for record in caplog.records] == ["other-boats-survey", "other-no-boats"]


@pytest.mark.parametrize(
    ("text", "language", "values"),
    [
        ("1,286,350 people, d = 0.05, in 2010", "en", ["1286350", "0.05", "2010"]),
        ("1.286.350 personas, 0,05, en 2010", "es", ["1286350", "0.05", "2010"]),
        ("%32,5 eta 1.250", "eu", ["32.5", "1250"]),
        ("13.2 und 2006/54", "it", ["13.2", "2006", "54"]),
        ("1.274.166", "en", ["1.274", "166"]),
    ],
)
def test_figures_are_read_as_each_language_writes_them(text: str, language: Language, values: list[str]) -> None:
    assert figures(text, language) == frozenset(map(Decimal, values))
