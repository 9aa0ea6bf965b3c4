from __future__ import annotations

import pytest

from bot.chat.defuse import JOINER, cut, defuse, web_address


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("@everyone", "@everyone"),
        ("<@123>", "<@123>"),
        ("<!channel>", "<!channel>"),
        ("#general", "#general"),
        ("https://evil.example", "://"),
        ("evil.example/x", "evil.example"),
        ("discord.gg/zorblax", "discord.gg"),
        ("mailto:zorblax", "mailto:z"),
        ("tel:112", "tel:1"),
        ("abc\u202edcba", "\u202e"),
        ("for\u200bbidden", "\u200b"),
        ("a\u2066b\u2069", "\u2066"),
    ],
)
def test_what_a_chat_would_act_on_is_taken_apart(text: str, live: str) -> None:
    assert live not in defuse(text, 100)
    assert live not in defuse(defuse(text, 100), 100)


def test_what_is_left_reads_the_same() -> None:
    text = "The Zorblaxians, e.g. in 4.9% of cases, ruin: everything! ¿Sí? מה? 👩‍👩‍👧 ok."
    assert defuse(text, 500).replace(JOINER, "") == text


def test_a_long_text_is_cut_with_an_ellipsis_and_never_longer() -> None:
    assert defuse("a" * 5_000, 100) == "a" * 99 + "…"
    assert len(defuse("@" * 5_000, 100)) <= 100
    assert cut("abc", 3) == "abc"
    assert cut("abcd", 3) == "ab…"


def test_stacked_marks_and_blank_lines_are_thinned_out() -> None:
    assert len(defuse("Z" + "\u0315" * 500, 600)) == 4
    assert defuse("a" + "\n \n" * 50 + "b", 600) == "a\n\nb"
    assert defuse("ệ", 10) == "ệ"


def test_a_link_is_shown_only_when_nothing_in_it_ends_markup() -> None:
    assert web_address("https://docs.un.org/en/A/RES/217(III)") == "https://docs.un.org/en/A/RES/217%28III%29"
    for bad in ("javascript:alert(1)", "https://a|b", "https://a b", "https://a>b", "ftp://a", "https://a`b", None, ""):
        assert web_address(bad) is None
