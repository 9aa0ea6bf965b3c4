"""Words must know a statement that is told in other words, and one that such words turn into another."""

from __future__ import annotations

import pytest

from pipeline.guard.words import stem
from tests.factories import make_evidence, make_source
from tests.pipeline.guard.by_words import stopped_by_words


def stopped_by(
    evidence: str, sentence: str, language: str = "en", institution: str = "Harbour Office", title: str = "A report"
) -> set[str]:
    """Return the checks by which words stop a reply of an opening and `sentence`."""
    source = make_source(institution=institution, title=title, symbol="", locator="", year=2019)
    statement = make_evidence("1", evidence, source=source, language=language)
    return set(stopped_by_words(statement, sentence))


@pytest.mark.parametrize(
    ("institution", "honest", "wrong"),
    [
        ("World Health Organization", "The UN's health agency says", "The EU's health agency says"),
        ("World Health Organization", "The WHO says", "The ILO says"),
        ("EU Agency for Fundamental Rights", "The Vienna-based agency says", "The Geneva-based agency says"),
        ("Council of Europe", "The body in Strasbourg says", "The body in Brussels says"),
        ("Court of Justice of the European Union", "The judges in Luxembourg say", "The judges in Strasbourg say"),
        ("UN Special Rapporteur on housing", "An expert for the UN says", "An expert for the EU says"),
        ("Unesco", "The UN body for culture says", "The EU body for culture says"),
        ("Home Office", "The British interior ministry says", "The Spanish interior ministry says"),
        ("National Harbour Research Institute", "The NHRI says", "The NHIR says"),
        ("Office for National Harbours", "The ONH says", "The OHN says"),
    ],
)
def test_a_source_may_be_named_in_another_form_and_not_as_another_body(
    institution: str, honest: str, wrong: str
) -> None:
    evidence = "Walks in the harbour are good for the health of older people."
    said = "{} that harbour walks are good for older people's health."
    assert stopped_by(evidence, said.format(honest), institution=institution) == set()
    assert "names" in stopped_by(evidence, said.format(wrong), institution=institution)


@pytest.mark.parametrize(
    ("language", "evidence", "honest", "wrong"),
    [
        (
            "en",
            "The Harbour Office requires ports to prohibit by law the mockery of fishers who are at sea.",
            "The Harbour Office requires ports to ban by law the mockery of fishers who are at sea.",
            "The Harbour Office requires ports to permit by law the mockery of fishers who are at sea.",
        ),
        (
            "en",
            "The Harbour Office described the work of older sailors as the backbone of the port in 2019.",
            "The Harbour Office portrayed the work of older sailors as the backbone of the port in 2019.",
            "The Harbour Office described the work of younger sailors as the backbone of the port in 2019.",
        ),
        (
            "en",
            "Sailors and fishers of the port are born equal in dignity and rights, the Harbour Office says.",
            "The Harbour Office says that sailors and fishers of the port arrive equal in dignity and rights.",
            "The Harbour Office says that sailors and fishers of the port are born unequal in dignity and rights.",
        ),
        (
            "es",
            "La Oficina del Puerto describe el trabajo de los marineros extranjeros como la base del puerto.",
            "La Oficina del Puerto retrata el trabajo de los marineros extranjeros como la base del puerto.",
            "La Oficina del Puerto describe el trabajo de los marineros autóctonos como la base del puerto.",
        ),
    ],
)
def test_a_word_in_a_near_copy_may_be_another_unless_it_tells_of_others_or_the_reverse(
    language: str, evidence: str, honest: str, wrong: str
) -> None:
    assert stopped_by(evidence, honest, language) == set()
    assert "swap" in stopped_by(evidence, wrong, language)


def test_a_strange_word_beside_a_negation_that_the_evidence_lacks_is_a_swap() -> None:
    evidence = "The Harbour Office regards the crossings of small boats as a normal part of port life."
    assert "swap" not in stopped_by(evidence, evidence.replace("regards", "describes"))
    denied = "The Harbour Office does not describe the crossings of small boats as a normal part of port life."
    assert "swap" in stopped_by(evidence, denied)
    passed_over = (
        "The Harbour Office describes the crossings of small boats without fuss as a normal part of port life."
    )
    assert "swap" not in stopped_by(evidence, passed_over)


@pytest.mark.parametrize(("word", "is_somebody"), [("lawyers", True), ("regulars", False)])
def test_another_word_for_people_is_a_swap(word: str, is_somebody: bool) -> None:
    evidence = "The Harbour Office counted 140 fishers among those who crossed the bay in 2019."
    said = f"The Harbour Office counted 140 {word} among those who crossed the bay in 2019."
    assert ("swap" in stopped_by(evidence, said)) is is_somebody


def test_evidence_that_speaks_of_all_bears_out_everybody_and_nobody() -> None:
    universal = "All sailors have the same right to the 3 harbour basins, says the port's charter of 1948."
    particular = "Sailors from two towns have the same right to the 3 harbour basins, says the port's charter of 1948."
    said = "By the charter of 1948 nobody may be kept from the 3 harbour basins."
    assert "overclaim" not in stopped_by(universal, said)
    assert "overclaim" in stopped_by(particular, said)


@pytest.mark.parametrize(
    "phrase", ["without distinction as to origin", "rather than as guests", "regardless of origin"]
)
def test_what_is_passed_over_turns_nothing_round(phrase: str) -> None:
    evidence = f"The port's charter of 1948 guarantees sailors from every town the use of harbour and quay, {phrase}."
    plain = "The port's charter of 1948 guarantees sailors from every town the use of harbour and quay."
    assert "supported" not in stopped_by(evidence, plain)
    assert "supported" in stopped_by(evidence, plain.replace("guarantees", "does not guarantee"))


@pytest.mark.parametrize(
    ("honest", "wrong"),
    [
        (
            "17% of sailors own a boat, the Harbour Office found.",
            "18% of sailors own a boat, the Harbour Office found.",
        ),
        (
            "Seventeen sailors in a hundred own a boat, the Harbour Office found.",
            "Seventy sailors in a hundred own a boat, the Harbour Office found.",
        ),
    ],
)
def test_a_share_may_be_rounded_to_a_whole_number(honest: str, wrong: str) -> None:
    evidence = "The Harbour Office found that 17.2% of sailors own a boat."
    assert "numbers" not in stopped_by(evidence, honest)
    assert "numbers" in stopped_by(evidence, wrong)


def test_two_shares_in_one_sentence_are_read_apart() -> None:
    evidence = "The Harbour Office found that 8% of sailors and 5% of fishers own a boat."
    said = "The Harbour Office found that one sailor in twelve and one fisher in {} own a boat."
    assert "numbers" not in stopped_by(evidence, said.format("twenty"))
    assert "numbers" in stopped_by(evidence, said.format("two"))


def test_the_first_article_is_article_one() -> None:
    evidence = "Harbours are free to all, says the first article of the Charter of Harbours."
    assert "numbers" not in stopped_by(
        evidence, "Article 1 of the Charter of Harbours says that harbours are free to all."
    )
    assert "numbers" in stopped_by(evidence, "Article 4 of the Charter of Harbours says that harbours are free to all.")


def test_a_turn_of_speech_counts_nothing() -> None:
    evidence = "The Harbour Office found in 2019 that 36% of sailors are women."
    said = "Half of humanity is no crew to sneer at, and the Harbour Office counted 36% women among sailors in 2019."
    assert "numbers" not in stopped_by(evidence, said)
    assert "numbers" in stopped_by(evidence, said.replace("Half of humanity", "Half of the sailors"))


@pytest.mark.parametrize(
    ("language", "evidence", "wrong"),
    [
        (
            "en",
            "States must respect every sailor's rights without discrimination of any kind, says the port's charter.",
            "States must respect every sailor's rights with discrimination of any kind, says the port's charter.",
        ),
        (
            "en",
            "Sailors with disabilities enjoy legal capacity in all aspects of life, says the port's charter.",
            "Sailors with disabilities are without legal capacity in all aspects of life, says the port's charter.",
        ),
        (
            "en",
            "About 16% of the people of the port have a significant disability, the Harbour Office estimates.",
            "Half the population of the port have a significant disability, the Harbour Office estimates.",
        ),
        (
            "en",
            "The Harbour Office found in 2019 that disabled children are 3.7 times more likely to be hurt.",
            "The Harbour Office found in 2019 that disabled children are a hundred times more likely to be hurt.",
        ),
        (
            "en",
            "In 2019 scholars signed a letter rejecting the arguments of the pirates, says the Harbour Office.",
            "In 2019 scholars signed a letter praising the arguments of the pirates, says the Harbour Office.",
        ),
        (
            "en",
            "The Harbour Office reported that 0.4% of the sailors asked in 2019 own a boat.",
            "The Harbour Office reported that 0% of the sailors asked in 2019 own a boat.",
        ),
        (
            "en",
            "In 2019 the Harbour Office said that 12 million sailors go to sea each year.",
            "In 2019 the Harbour Office said that 12 million sailors go to sea each year and nobody helps them.",
        ),
        (
            "it",
            "Secondo l'ufficio del porto, nel 2019 le marinaie guadagnavano 3 euro meno dei marinai.",
            "Secondo l'ufficio del porto, nel 2019 due donne guadagnavano meno dei marinai.",
        ),
        (
            "es",
            "Según la Oficina del Puerto, en 2019 los marineros heridos eran 3,7 veces más que los demás.",
            "Según la Oficina del Puerto, en 2019 los marineros heridos eran mil veces más que los demás.",
        ),
    ],
)
def test_leeway_does_not_let_the_reverse_or_another_figure_pass(language: str, evidence: str, wrong: str) -> None:
    assert stopped_by(evidence, wrong, language)


@pytest.mark.parametrize(("share", "rounded", "wrong"), [("17.4", "17", "18"), ("17.6", "18", "17")])
def test_a_share_is_rounded_to_the_nearest_whole_number(share: str, rounded: str, wrong: str) -> None:
    evidence = f"The Harbour Office found that {share}% of sailors own a boat."
    said = "The Harbour Office found that {}% of sailors own a boat."
    assert "numbers" not in stopped_by(evidence, said.format(rounded))
    assert "numbers" in stopped_by(evidence, said.format(wrong))


@pytest.mark.parametrize(
    ("acronym", "is_known"), [("NHRI", True), ("NHI", True), ("NH", False), ("NRI", True), ("HIN", False)]
)
def test_initials_may_leave_out_one_word_and_are_three_at_least(acronym: str, is_known: bool) -> None:
    evidence = "Walks in the harbour are good for the health of older people."
    said = f"The {acronym} says that harbour walks are good for older people's health."
    known = "names" not in stopped_by(evidence, said, institution="National Harbour Research Institute")
    assert known is is_known


def test_what_a_journal_tells_is_research() -> None:
    evidence = "Walks in the harbour were good for the health of 410 older people (Journal of Harbours, 2019)."
    assert "names" not in stopped_by(evidence, "Research links harbour walks to the health of 410 older people.")


def test_a_name_with_a_digit_is_one_name() -> None:
    evidence = "In 2019 the Harbour Office ended what was called Operation K4."
    assert "names" not in stopped_by(evidence, "The Harbour Office ended Operation K4 in 2019.")
    assert "names" in stopped_by(evidence, "The Harbour Office ended Operation K5 in 2019.")


def test_initials_are_those_of_a_source_and_not_of_words_in_a_row() -> None:
    evidence = "The Police in England and Wales recorded 10,224 thefts of boats in 2019."
    assert "names" in stopped_by(evidence, "PEW recorded 10,224 thefts of boats in 2019.")


def test_what_a_court_found_is_no_research() -> None:
    evidence = "In 2019 the Harbour Court found that the ban on flags breached the charter."
    assert "names" in stopped_by(evidence, "Research shows that the ban on flags breached the charter.")


@pytest.mark.parametrize(
    ("evidence", "honest", "wrong"),
    [
        (
            "Over the years 2006-18, sailors paid more into the port's fund than they received from it.",
            "From 2006 to 2018, sailors paid more into the port's fund than they received from it.",
            "From 2006 to 2016, sailors paid more into the port's fund than they received from it.",
        ),
        (
            "Around half of the sailors aged 16 to 64 (53.5%) had work at the port in 2019.",
            "In the port, 53.5% of the sailors aged 16 to 64 had work in 2019.",
            "In the port, 64% of the sailors aged 16 to 53 had work in 2019.",
        ),
        (
            "The Harbour Office found less crime in neighborhoods with more sailors than in comparable ones.",
            "The Harbour Office found less crime in neighbourhoods with more sailors than in comparable ones.",
            "The Harbour Office found less crime in neighbourhoods with more tourists than in comparable ones.",
        ),
        (
            "Of the sailors asked at the port, 28% had been mocked for their accent in the 12 months before.",
            "Of the sailors asked at the port, over a quarter had been mocked for their accent within a year.",
            "Of the sailors asked at the port, over a third had been mocked for their accent within a year.",
        ),
        (
            "Respondents at the port said in 2019 that sailors are good company in 67% of cases.",
            "In a survey at the port in 2019, 67% said that sailors are good company.",
            "In a survey at the port in 2019, 76% said that sailors are good company.",
        ),
    ],
)
def test_years_figures_and_spellings_may_be_written_otherwise(evidence: str, honest: str, wrong: str) -> None:
    assert stopped_by(evidence, honest) == set()
    assert stopped_by(evidence, wrong) != set()


@pytest.mark.parametrize(
    ("language", "evidence", "wrong"),
    [
        (
            "en",
            "The findings of 2019 cannot be generalised, but most sailors at the port obeyed the rules.",
            "In 2019, everyone among the sailors at the port obeyed the rules.",
        ),
        (
            "en",
            "Women at the port wait at least half an hour for the ferry.",
            "At the port, 50% of women wait for the ferry.",
        ),
        (
            "en",
            "For nearly half a century, sailors were barred from the port of the harbour.",
            "At the port of the harbour, 50% of sailors were barred.",
        ),
        (
            "en",
            "Some third-country nationals at the port cannot vote in the elections of the harbour.",
            "At the port, 33% of nationals cannot vote in the elections of the harbour.",
        ),
        (
            "es",
            "Los delitos en el puerto bajaron hasta el cuarto trimestre de 2019 entre los marineros migrantes.",
            "Una cuarta parte de los marineros migrantes del puerto bajaron los delitos en 2019.",
        ),
        (
            "en",
            "In 2019, women (12%) were harassed at the port more often than men (5%).",
            "In 2019, women (5%) were harassed at the port more often than men (12%).",
        ),
        (
            "en",
            "Insults were reported by sailors from Malta (12%), Norway (31%) and Kenya (45%) at the port.",
            "Insults were reported by sailors from Malta (31%), Norway (12%) and Kenya (45%) at the port.",
        ),
        (
            "en",
            "Directive 2006/54/EC bans sex discrimination at work in the port.",
            "By 2054, sex discrimination at work in the port is banned by the Directive.",
        ),
        (
            "en",
            "The rule about sailors at work in the port was passed on 2019-05-12.",
            "The rule about sailors at work in the port was passed in 2005.",
        ),
        (
            "en",
            "The Special Rapporteur said that the ban on flags at the port is harmful to sailors.",
            "Studies show that the ban on flags at the port is harmful to sailors.",
        ),
        (
            "en",
            "The court ordered the respondents to lift the ban on flags at the port.",
            "Research shows that the court ordered to lift the ban on flags at the port.",
        ),
        (
            "it",
            "La consulta del porto assiste i marinai migranti senza documenti.",
            "Lo dice la Consulta: il porto assiste i marinai migranti senza documenti, ordina la Corte.",
        ),
    ],
)
def test_no_year_share_study_or_court_is_read_out_of_other_words(language: str, evidence: str, wrong: str) -> None:
    assert stopped_by(evidence, wrong, language) != set()


@pytest.mark.parametrize(
    ("word", "other"), [("neighbourhoods", "neighborhoods"), ("labour", "labor"), ("colours", "colors")]
)
def test_british_and_american_spellings_meet(word: str, other: str) -> None:
    assert stem(word, "en") == stem(other, "en")


@pytest.mark.parametrize(
    ("language", "evidence", "honest", "wrong"),
    [
        (
            "en",
            "The mean age of sailors at the port was 43.2 years in 2019.",
            "Sailors at the port were 43 years old on average in 2019.",
            "Sailors at the port were 45 years old on average in 2019.",
        ),
        (
            "en",
            "In 2019, sailors at the port paid 241 fines, against 454 in 2018.",
            "Sailors at the port paid 241 fines in 2019, against 454 in 2018.",
            "Sailors at the port paid 454 fines in 2019, against 241 in 2018.",
        ),
        (
            "it",
            "Secondo l'ufficio del porto, circa la metà ha la cittadinanza del porto.",
            "Più o meno uno su due ha la cittadinanza del porto, secondo l'ufficio.",
            "Più o meno uno su tre ha la cittadinanza del porto, secondo l'ufficio.",
        ),
        (
            "eu",
            "Holokaustoan sei milioi judu hil zituzten, eta haietatik 1,5 milioi haurrak ziren.",
            "Holokaustoan sei milioi judu hil zituzten, eta haietatik milioi eta erdi haurrak ziren.",
            "Holokaustoan sei milioi judu hil zituzten, eta haietatik erdiak haurrak ziren.",
        ),
    ],
)
def test_a_figure_may_be_rounded_and_a_year_put_elsewhere(
    language: str, evidence: str, honest: str, wrong: str
) -> None:
    assert stopped_by(evidence, honest, language) == set()
    assert stopped_by(evidence, wrong, language)


FINES = "In 2019, sailors at the port paid 241 fines, against 454 in 2018."
CRIMES = "The police in the port recorded 145,214 hate crimes in 2023, down from 155,841 in 2022."
ILL = "In 2015, 20 % of sailors at the port were ill; in 2019, 40 % were."


@pytest.mark.parametrize(
    ("language", "evidence", "sentence", "stops"),
    [
        ("en", FINES, "Sailors at the port paid 241 fines in 2019, against 454 in 2018.", False),
        ("en", FINES, "In 2018, sailors at the port paid 241 fines.", True),
        ("en", FINES, "Sailors at the port paid 454 fines in 2019.", True),
        ("en", CRIMES, "In 2023, the police in the port recorded 145,214 hate crimes.", False),
        ("en", CRIMES, "In 2023, the police in the port recorded 145,214 hate crimes, and 155,841 in 2022.", False),
        ("en", CRIMES, "By 2022, the police in the port had recorded 145,214 hate crimes.", True),
        ("en", ILL, "20 % of sailors at the port were ill in 2015.", False),
        ("en", ILL, "In 2019, 20 % of sailors at the port were ill.", True),
        (
            "en",
            "In 2022 the pay gap of sailors at the port ranged from 0.7% in Luxembourg to 21.3% in Estonia.",
            "In Estonia the pay gap of sailors at the port stood at 21.3% in 2022.",
            False,
        ),
        (
            "es",
            "En 2022 la tasa de paro de los marineros en España fue del 21,4 %, frente al 12,8 % del resto.",
            "La tasa de paro de los marineros en España era del 21,4 % en 2022, frente al 12,8 % del resto.",
            False,
        ),
        ("en", "Of 1500 sailors at the port 300 were ill.", "Of 300 sailors at the port 1500 were ill.", True),
    ],
)
def test_a_year_keeps_its_figure(language: str, evidence: str, sentence: str, stops: bool) -> None:
    assert ("swap" in stopped_by(evidence, sentence, language)) is stops


@pytest.mark.parametrize(
    ("institution", "honest", "wrong"),
    [
        ("Harbour Office", "The experts at the Harbour Office say", "The experts at sea say"),
        ("World Health Organization", "The experts of the WHO say", "The experts of the world say"),
        ("WHO Regional Office for Europe", "The experts at WHO Europe say", "The experts of the region say"),
        (
            "World Health Organization (WHO)",
            "The experts of the World Health Organization say",
            "The experts for health say",
        ),
        ("World Health Organization", "Experts at the World Health Organization say", "Experts for health say"),
        ("European Commission", "Studies by the European Commission say", "Studies by European universities say"),
        ("European Union", "Studies by the European Union say", "Studies by European universities say"),
        ("Tribunal Marítimo", "The TM says", "The TX says"),
    ],
)
def test_a_source_that_is_named_is_no_appeal_to_others(institution: str, honest: str, wrong: str) -> None:
    evidence = "Walks in the harbour are good for the health of older people."
    said = "{} that harbour walks are good for older people's health."
    assert "names" not in stopped_by(evidence, said.format(honest), institution=institution)
    assert "names" in stopped_by(evidence, said.format(wrong), institution=institution)


def test_who_was_asked_answered_a_survey() -> None:
    evidence = "More than one in two of the respondents had been mocked at sea, the Harbour Office found."
    assert "names" not in stopped_by(evidence, "In the survey, over half of those asked had been mocked at sea.")


@pytest.mark.parametrize("acronym", ["EAP", "EAPn"])
def test_initials_of_a_name_in_the_evidence_stand_for_it(acronym: str) -> None:
    evidence = "Euskal Arrantza Portuan 85.000 marinel zeuden 2019an."
    assert "names" not in stopped_by(evidence, f"85.000 marinel zeuden {acronym} 2019an.", "eu")


def test_a_right_may_be_recognised_and_a_ban_on_it_may_not() -> None:
    right = "Secondo la carta ogni marinaio ha diritto nel porto alla libertà di manifestare la propria opinione."
    said = "La carta riconosce a ogni marinaio nel porto la libertà di manifestare la propria opinione."
    assert "swap" not in stopped_by(right, said, "it")
    ban = "The Harbour Office upheld the ban on the mockery of older sailors in the port."
    assert "swap" in stopped_by(ban, "The Harbour Office recognised the mockery of older sailors in the port.")


def test_a_source_without_a_name_is_named_by_nothing() -> None:
    evidence = "Walks in the harbour are good for the health of older people."
    said = "Experts of the world say that harbour walks are good for older people's health."
    assert "names" in stopped_by(evidence, said, institution="")


@pytest.mark.parametrize(
    ("language", "evidence", "honest", "wrong"),
    [
        (
            "en",
            "Of 7.7 million herring, 6.5 million live in the bay.",
            "Of about 7.7 million herring, 6.5 live in the bay.",
            "Of about 7.7 million herring, 5.6 live in the bay.",
        ),
        (
            "en",
            "Of 7.7 million herring, 6.5 million live in the bay.",
            "Of about 7.7 million herring, 6.5 million live in the bay.",
            "Of about 7.7 million herring, the oldest lived 6.5 years.",
        ),
        (
            "en",
            "Of 7.7 million herring, 6.5 million live in the bay.",
            "Of about 7.7 million herring, 6.5 million live in the bay.",
            "In all 7.7 million herring live here; 6.5 live in the bay.",
        ),
        (
            "es",
            "De 7,7 millones de arenques, 6,5 millones viven en la bahía.",
            "De unos 7,7 millones de arenques, 6,5 viven en la bahía.",
            "De unos 7,7 millones de arenques, 5,6 viven en la bahía.",
        ),
    ],
)
def test_a_magnitude_goes_on_to_the_next_decimal_number(language: str, evidence: str, honest: str, wrong: str) -> None:
    assert "numbers" not in stopped_by(evidence, honest, language)
    assert "numbers" in stopped_by(evidence, wrong, language)


def test_a_figure_in_the_name_of_a_source_may_be_named() -> None:
    evidence, said, name = "Sailors like herring.", "Sailors like herring, says the Association {} July.", "21 July"
    elsewhere = "In this port 21 of the sailors like herring."
    assert "numbers" not in stopped_by(evidence, said.format(21), institution=f"Association {name}")
    assert "numbers" in stopped_by(evidence, said.format(12), institution=f"Association {name}")
    assert "numbers" in stopped_by(evidence, elsewhere, institution=f"Association {name}")
