from __future__ import annotations

import pytest

from pipeline.normalise import fold_disguised, normalise, spelled_out


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("  Two   spaces\n\tand lines ", "Two spaces and lines"),
        ("ｆｕｌｌ ｗｉｄｔｈ and 𝐛𝐨𝐥𝐝", "full width and bold"),
        ("hid\u200bden\u00ad words\ufeff", "hidden words"),
        ("abc\u202edef\u2066ghi\u2069", "abcdefghi"),
        ("a\x00b\x1bc", "abc"),
        ("@someone and @some.one-else said", "@user and @user said"),
        ("@a @b, @c: hello", "@user hello"),
        ("<user> [USER] hm", "@user hm"),
        ("mail me at me@example.org", "mail me at me@example.org"),
        ("look https://x.example/a?b=c#d www.y.example", "look [link] [link]"),
        ("sooooo BAAAAD!!!!!!!", "soo BAAD!!!"),
        ("10000000 people in 2000", "10000000 people in 2000"),
        ("coffee &amp; tea &lt;3", "coffee & tea <3"),
        ("👩\u200d👧 and 🏳️\u200d🌈 stay", "👩\u200d👧 and 🏳️\u200d🌈 stay"),
        ("שלום \u200fעולם", "שלום עולם"),
        ("Motörhead ñ Straße", "Motörhead ñ Straße"),
    ],
)
def test_text_for_models_is_plain(text: str, plain: str) -> None:
    assert normalise(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("k i l l and k.i.l.l and k-i-l-l", "kill and kill and kill"),
        ("Z o r b l a x i a n s ruin it", "Zorblaxians ruin it"),
        ("l e a v e n o w", "leavenow"),  # one blank between words too: nothing tells where they end
        ("k  i  l  l", "kill"),
        ("I am a man", "I am a man"),
        ("K1ll th3m, m1grants", "Kill them, migrants"),
        ("B00KS and a$$", "BooKS and a$$"),  # only between letters
        ("d!e p@y", "d!e p@y"),
        ("y0u 1d10t", "you idiot"),
        ("4ll in 2015, covid19 4 you", "4ll in 2015, covid19 4 you"),
        ("kіll тhem, Zоrblаxians", "kill them, Zorblaxians"),  # Cyrillic look-alikes between Latin letters
        ("это слово", "это слово"),
        ("ⓚⓘⓛⓛ", "kill"),
    ],
)
def test_what_is_spaced_out_or_disguised_is_plain_where_it_can_mean_nothing_else(text: str, plain: str) -> None:
    assert normalise(text) == plain


@pytest.mark.parametrize("text", ["", " ", "\u200b\u200d\ufeff", "\x00\x01", "\u202e"])
def test_nothing_may_be_left(text: str) -> None:
    assert normalise(text) == ""


@pytest.mark.parametrize(
    "text", ["Zorblaxians ruin EVERYTHING!!!!", "@a @b 🙂🙂🙂🙂🙂 aaaa", "ﬁ &amp;amp; x", "\u0915\u094d\u200d\u0937"]
)
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    once = normalise(normalise(text))
    assert normalise(once) == once


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Résumé NAÏVE Straße", "resume naive strasse"),
        ("k1ll th3m 4ll", "kill them 4ll"),
        ("sh00t d!e p@y", "shoot die pay"),
        ("in 2015 covid19 4 you", "in 2015 covid19 4 you"),
        ("kіll тhem", "kill them"),  # Cyrillic look-alikes between Latin letters
        ("это слово", "это слово"),
        ("k i l l and k.i.l.l and k-i-l-l", "kill and kill and kill"),
        ("I am a man", "i am a man"),
        ("diiiie and killllll", "die and kill"),
        ("I’ll", "i'll"),
        ("see https://kill.example/them @killer", "see @user"),
    ],
)
def test_text_for_rules_is_folded(text: str, folded: str) -> None:
    assert fold_disguised(text) == folded


@pytest.mark.parametrize("form", [normalise, fold_disguised])
@pytest.mark.parametrize(
    "text", ["a" * 20_000, "🙂" * 20_000, "a b " * 5_000, "\u0301" * 20_000, "k.i." * 5_000, "\ud800x"]
)
def test_hostile_lengths_and_characters_come_out_as_text(form: type[str], text: str) -> None:
    assert len(form(text).encode("utf-8")) <= 4 * 20_000


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("they are 🐷 all", "they are pig face all"),
        ("👩\u200d👧🏿", "woman girl type-6"),
        ("♿\ufe0f people", "wheelchair symbol people"),
        ("🇮🇱", "i l"),
        ("plain words, ¿verdad? it´s ½ ©", "plain words, ¿verdad? it´s ½ ©"),
        ("🐀🐀", "rat rat"),
        ("", ""),
    ],
)
def test_symbols_are_spelled_out_by_their_names(text: str, spelled: str) -> None:
    assert spelled_out(text) == spelled
