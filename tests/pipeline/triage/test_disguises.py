from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.disguises import undisguised
from pipeline.normalise import fold_disguised, normalise

LISTED = ("idiots", "immigrants", "muslims", "vermin", "inmigrantes", "etorkinak", "gypsies")
SIGNS = {"a": "4", "e": "3", "i": "1!", "l": "1", "o": "0", "s": "5$", "t": "7"}
PLAIN = (
    "1st 2nd 3rd 4th 5th", "4 people and 7 women", "$5 for 1 kill", "B12 and 24/7, covid19", "5G 4K 3D 80s 20k $20bn",
    "in 2015 10am 6ft 7yo 1M 100%", "ps5 mp3 i5 x86 4chan win10", "4women 5girls 20immigrants 14st",
    "stop! muslims! no!", "girls!no men!yes", "girls@home.example", "a 1 b 2", "1 2 3 4", "plan b 4 u", "1457",
    "snake_case_1 $HOME", "US$5 HK$", "the last5 years, girl1 and girl2", "migrants20 muslim55 idiots1984",
    "negr@s y moros, NEGR@S, inmigrant@s",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("$tupid 1diots", "stupid idiots"),
        ("these immigrant5, invader$ and vermin1", "these immigrants, invaders and vermin"),
        ("migrants5, migrant5, migrants$, MIGRANT5", "migrants, migrants, migrants, MIGRANTS"),
        ("N0 more 1diots", "No more idiots"),
        ("Mus1ims and MU5LIMS", "Muslims and MUSLIMS"),
        ("@nimals, n0 more!", "animals, no more!"),
        ("k 1 l l and k.1.l.l them", "kill and kill them"),
        ("5cum!!!", "scum!!!"),
        ("e5tupid0s e inm1grante5", "estupidos e inmigrantes"),
    ],
)
def test_disguised_words_of_the_packs_are_resolved(text: str, plain: str) -> None:
    assert undisguised(text) == plain
    assert normalise(text) == plain
    assert fold_disguised(text) == plain.casefold()


def test_letters_that_look_like_latin_ones_are_read_before_signs_are() -> None:
    assert normalise("1di\u043ets") == fold_disguised("1di\u043ets") == "idiots"


@pytest.mark.parametrize("text", PLAIN)
def test_figures_signs_and_words_that_stand_there_openly_stay(text: str) -> None:
    assert undisguised(text) == text


@pytest.mark.parametrize("text", ["kill'em all", "kill’em all"])
def test_a_glued_pronoun_is_parted_for_rules(text: str) -> None:
    assert fold_disguised(text) == "kill 'em all"


@given(st.sampled_from(LISTED), st.data())
def test_however_a_listed_word_is_disguised_it_is_resolved(word: str, data: st.DataObject) -> None:
    written = "".join(data.draw(st.sampled_from(letter + SIGNS.get(letter, ""))) for letter in word)
    assume(sum(map(str.isalpha, written)) > 1)
    assert undisguised(f"{written}, they say!") == f"{word}, they say!"


@given(st.text(alphabet="0123456789$@!%/.,:'-_ €£"))
def test_what_has_no_letters_stays(text: str) -> None:
    assert undisguised(text) == text


@given(st.from_regex(r"[1-9][0-9]{0,4} ?(st|nd|rd|th|am|pm|k|m|bn|x|s|GB|people|women|euros)?", fullmatch=True))
def test_figures_with_their_units_stay(figure: str) -> None:
    assert undisguised(f"about {figure} of them") == f"about {figure} of them"


@given(st.text(alphabet="idots$510!@ _-k"))
def test_resolving_twice_changes_nothing_more(text: str) -> None:
    once = undisguised(text)
    assert undisguised(once) == once


@pytest.mark.parametrize("text", ["$" * 20_000, "1 " * 10_000, "k.1." * 5_000, "idiot1" * 3_000, "a1!" * 6_000])
def test_hostile_lengths_come_out(text: str) -> None:
    assert len(undisguised(text)) <= len(text)
