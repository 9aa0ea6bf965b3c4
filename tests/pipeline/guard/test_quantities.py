"""Quantities in words stand for the values they mean, and for no others."""

from __future__ import annotations

import time

import pytest

from pipeline.guard.borne_out import given
from pipeline.guard.quantities import Kind, is_plain, quantities
from pipeline.guard.words import fold


@pytest.mark.parametrize(
    ("language", "said", "evidence", "borne_out"),
    [
        ("en", "three in four of them", "76% of them", True),
        ("en", "one in four of them", "76% of them", False),
        ("en", "more than half of them", "55% of them", True),
        ("en", "nearly half of them", "55% of them", False),
        ("en", "in the seventies", "in 1978", True),
        ("en", "in the fifties", "in 1978", False),
        ("en", "three decades", "thirty years", True),
        ("en", "three centuries", "three decades", False),
        ("en", "well over half a million", "657,461 children", True),
        ("en", "half a million", "300,000 children", False),
        ("en", "hundreds of thousands", "300,000 people", True),
        ("en", "hundreds of thousands", "3,000 people", False),
        ("en", "more than twice", "29.5 and 11.8 in 1,000", True),
        ("en", "nearly all of it has other causes", "5.2% of it", True),
        ("en", "nearly all of it has other causes", "47% of it", False),
        ("en", "nearly all of it has this cause", "5.2% of it", False),
        ("es", "casi toda la violencia tiene otras causas", "el 5,2 %", True),
        ("es", "casi toda la violencia tiene otras causas", "el 95 %", False),
        ("en", "a quarter of a century", "25 years", True),
        ("en", "a quarter century", "20 years", False),
        ("en", "a million and a half", "1.5 million children", True),
        ("en", "a million and a half", "2.5 million children", False),
        ("en", "two and a half million", "2.5 million children", True),
        ("en", "2 million and a half", "2.5 million children", True),
        ("en", "2 million and a half", "1.5 million children", False),
        ("en", "12 sailors", "12.4 sailors", True),
        ("en", "12 sailors", "12.5.2019", False),
        ("en", "one in one", "100%", False),
        ("es", "ni una de cada diez mil", "el 0,0084 %", True),
        ("es", "ni una de cada diez mil", "el 0,084 %", False),
        ("it", "cinque donne sono morte su 10 navi", "il 50 %", False),
        ("es", "una mujer de origen extranjero de cada dos", "el 48 %", True),
        ("it", "quasi una persona di origine straniera su due", "il 45 %", True),
        ("it", "quasi una persona di origine straniera su tre", "il 45 %", False),
        ("es", "una de cada dos", "el 50 %", True),
        ("es", "en los años treinta", "en 1933", True),
        ("es", "en los años cincuenta", "en 1933", False),
        ("it", "da sette secoli", "da settecento anni", True),
        ("it", "da sette decenni", "da settecento anni", False),
        ("en", "for every 100 sailors there were 83 fishers", "83.1% of them", True),
        ("en", "for every 100 sailors there were 38 fishers", "83.1% of them", False),
        ("en", "about 19 times in a hundred", "18.8% of them", True),
        ("es", "por cada 100 euros de ellos hubo unos 83 para ellas", "el 82,9 %", True),
        ("es", "por cada 100 euros de ellos hubo unos 73 para ellas", "el 82,9 %", False),
        ("it", "ogni 100 euro dei pescatori, i marinai ne hanno 83", "l'82,9 %", True),
        ("it", "ogni 100 euro dei pescatori, i marinai ne hanno 38", "l'82,9 %", False),
        ("es", "casi la mitad está en el puerto", "el 46 %", True),
        ("es", "casi la mitad está en el puerto", "el 64 %", False),
        ("it", "quasi il doppio", "454 a fronte dei 241", True),
        ("it", "quasi il doppio", "454 a fronte dei 341", False),
        ("it", "il doppio", "il rispetto alla vita di 120 marinai e 240 pescatori", False),
        ("es", "tres veces", "frente al odio, 120 sedes en 40 países", False),
        ("en", "three times", "an appeal against 3 laws reached 120 judges and 40 lawyers", False),
        ("en", "a third of the women", "two out of every three women and one of every four men", False),
        ("es", "un tercio de las mujeres", "dos de cada tres mujeres y uno de cada cuatro hombres", False),
        ("it", "un terzo delle donne", "due donne su tre e un uomo su quattro", False),
        ("en", "for every 100 sailors there were 1.5 million fishers", "1.5% of them", False),
        ("en", "nearly twice as many", "454 compared with 241 before", True),
        ("eu", "erdiak baino gehiago", "%55ek", True),
        ("eu", "lautik hiru", "%75", True),
        ("eu", "asko dira, eta erdiak baino gehiago kriminalak dira", "%55", True),
    ],
)
def test_a_quantity_is_borne_out_by_the_value_it_means(
    language: str, said: str, evidence: str, borne_out: bool
) -> None:
    known = given(fold(evidence), language, 2026)
    read = [quantity for quantity in quantities(fold(said), language) if quantity.kind is not Kind.TIMES or borne_out]
    assert any(map(known.bears_out, read)) is borne_out


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "two out of every three women and one of every four men"),
        ("es", "dos de cada tres mujeres y uno de cada cuatro hombres"),
        ("it", "due donne su tre e un uomo su quattro"),
    ],
)
def test_two_shares_in_a_row_are_read_as_two(language: str, said: str) -> None:
    shares = {round(each.value) for each in quantities(said, language) if each.kind is Kind.SHARE}
    assert shares == {67, 25}


def test_five_times_in_a_year_more_often_is_a_multiple() -> None:
    assert any(each.kind is Kind.TIMES for each in quantities("five times in a year more often", "en"))


@pytest.mark.parametrize(
    ("language", "said", "shares"),
    [
        ("eu", "asko dira, eta erdiak kriminalak dira", [50.0]),
        ("eu", "milioi eta erdi haurrak ziren", []),
        ("en", "half of them left, and a half of us stayed", [50.0, 50.0]),
        ("en", "a million and a half of them", []),
        ("it", "cinque donne sono morte su 10 navi", []),
    ],
)
def test_a_half_is_a_share_unless_it_is_added_to_a_count(language: str, said: str, shares: list[float]) -> None:
    read = quantities(fold(said), language)
    assert [quantity.value for quantity in read if quantity.kind is Kind.SHARE] == shares


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "2 million and a half"),
        ("es", "2 millones y medio"),
        ("it", "2 milioni e mezzo"),
        ("eu", "2 milioi eta erdi"),
    ],
)
def test_half_a_million_is_added_to_millions_in_digits(language: str, said: str) -> None:
    read = {quantity.value for quantity in quantities(said, language) if quantity.span == (0, len(said))}
    assert read == {2_500_000}


@pytest.mark.parametrize(
    ("language", "text", "number", "plain"),
    [
        ("en", "the other half of the story is not told", "half", True),
        ("en", "the other half are criminals", "half", False),
        ("en", "two adult men attacked her", "two", False),
        ("es", "dos personas que se quieren", "dos", True),
        ("es", "dos personas que se negaron a pagar", "dos", False),
        ("it", "due persone che si amano", "due", True),
        ("it", "due persone che si rifiutano di pagare", "due", False),
        ("it", "due uomini adulti la aggredirono", "due", False),
    ],
)
def test_love_counts_nobody_and_crimes_do(language: str, text: str, number: str, plain: bool) -> None:
    start = text.index(number)
    assert is_plain(text, start, start + len(number), language) is plain


@pytest.mark.parametrize(("language", "word"), [("en", "one "), ("es", "mil "), ("it", "un "), ("eu", "bat ")])
def test_a_text_of_number_words_is_read_in_bounded_time(language: str, word: str) -> None:
    began = time.process_time()
    quantities((word * 5000)[:5000], language)
    assert time.process_time() - began < 3
