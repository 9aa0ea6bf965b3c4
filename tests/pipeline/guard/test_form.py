from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from core.domain import Check, Intent
from core.settings import GuardSettings
from pipeline.guard import GuardContext, form
from pipeline.guard.material import material
from tests.factories import make_evidence, make_post, make_source

Judge = Callable[..., Check]


@pytest.mark.parametrize("text", ["", " ", "\n", "…", "!!!", "🙂", "12"])
def test_text_without_a_letter_is_empty(judge: Judge, text: str) -> None:
    assert not judge("not_empty", text).passed


def test_one_letter_is_not_empty(judge: Judge) -> None:
    assert judge("not_empty", "a").passed


@pytest.mark.parametrize(
    ("platform", "size", "fits"),
    [
        ("twitter", 280, True),
        ("twitter", 281, False),
        ("Twitter", 281, False),
        ("forum", 500, True),
        ("forum", 501, False),
        ("gab", 3000, True),
    ],
)
def test_length_follows_the_platform(judge: Judge, platform: str, size: int, fits: bool) -> None:
    check = judge("length", "x" * size, platform=platform)
    assert (check.passed, check.value) == (fits, size)


@pytest.mark.parametrize(
    "text",
    [
        "Women have equal rights. The rate is 4.9% in the EU.",
        "See Art. 7 of CEDAW. It says so!",
        "Under No. 5 of A/RES/80/193, the U.N. says so. Why doubt it?",
        "That is unfair… People deserve better.",
        "“That is unfair.” People deserve better.",
    ],
)
def test_two_sentences_are_told_from_points_inside_them(judge: Judge, text: str) -> None:
    assert judge("sentences", text).passed


@pytest.mark.parametrize(
    "text",
    [
        "One. Two. Three.",
        "One is here. Two has no end",
        "One has no end",
        "One\nTwo\nThree",
        "",
    ],
    ids=["three", "cut", "one cut", "lines", "none"],
)
def test_more_than_two_and_cut_sentences_fail(judge: Judge, text: str) -> None:
    assert not judge("sentences", text).passed


@pytest.mark.parametrize("text", ["Only one sentence here.", "One is here. Two is here. ", "What makes you think so?"])
def test_one_or_two_whole_sentences_pass(judge: Judge, text: str) -> None:
    assert judge("sentences", text).passed


def test_a_questioning_reply_may_be_one_question(judge: Judge) -> None:
    assert judge("sentences", "What makes you think so?", intent=Intent.QUESTIONING).passed


def test_a_questioning_reply_must_ask(judge: Judge) -> None:
    check = judge("sentences", "Rights are equal. They are for all.", intent=Intent.QUESTIONING)
    assert not check.passed
    assert "question mark" in check.detail


@pytest.mark.parametrize(
    ("language", "text", "fits"),
    [
        ("en", "Women deserve an equal say in public life, and the law agrees with that.", True),
        ("und", "Women deserve an equal say in public life, and the law agrees with that.", True),
        ("es", "Women deserve an equal say in public life, and the law agrees with that.", False),
        ("es", "Las mujeres merecen la misma voz en la vida pública, y la ley lo dice así.", True),
        ("und", "Las mujeres merecen la misma voz en la vida pública, y la ley lo dice así.", False),
        ("de", "Frauen verdienen eine gleiche Stimme im öffentlichen Leben, und das Gesetz sagt es.", True),
        ("it", "Le donne meritano la stessa voce nella vita pubblica, e la legge lo dice.", True),
        ("fr", "Les femmes méritent la même voix dans la vie publique, et la loi le dit.", True),
    ],
)
def test_a_reply_is_in_the_language_of_the_post(judge: Judge, language: str, text: str, fits: bool) -> None:
    assert judge("language", text, language=language).passed is fits


FACT = (
    "Según la Agencia de los Derechos Fundamentales de la Unión Europea, más de la mitad de las mujeres musulmanas que "
    "buscan trabajo cuenta que ha sido discriminada por su religión en los cinco años anteriores a la encuesta."
)


def reads_in_the_language(text: str, language: str) -> bool:
    source = make_source(institution="Bundesamt für Migration und Flüchtlinge", title="Muslimisches Leben")
    evidence = make_evidence(text=FACT, language="es", source=source)
    context = GuardContext(post=make_post(), language=language, evidence=(evidence,))
    return form.same_language(material(text, context), context, GuardSettings()).passed


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", f"Nobody should be treated like this because of their faith. {FACT}"),
        ("es", f"Nobody deserves this, whoever they are. De hecho, {FACT}"),
        ("es", f"{FACT} Nobody deserves to be treated like this."),
        ("es", f"Nessuno merita di essere trattato in questo modo. {FACT}"),
        (
            "en",
            "Nadie merece que le traten así. Everybody has the same rights at work, at school and in the street, "
            "whatever their faith, and nobody should have to be afraid of their own neighbours.",
        ),
    ],
)
def test_one_sentence_in_another_language_fails_beside_a_long_fact(language: str, text: str) -> None:
    assert not reads_in_the_language(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", f"Nadie merece que le traten así por su fe. {FACT}"),
        ("es", f"¿De verdad? {FACT}"),
        ("es", f"Así lo dice la European Union Agency for Fundamental Rights. {FACT}"),
        ("it", "Human Rights Watch e Amnesty International lo negano. Ogni persona merita lo stesso rispetto."),
        ("eu", "Council of Europe erakundeak dio. Pertsona guztiek errespetua merezi dute."),
        ("en", "The Bundesamt für Migration und Flüchtlinge says so. Everybody deserves the same respect."),
        (
            "en",
            f"{'Muslim women look for work and are turned away, and that is wrong, as many of them say. ' * 6}{FACT}",
        ),
    ],
)
def test_foreign_names_and_sentences_on_file_pass_in_a_right_reply(language: str, text: str) -> None:
    assert reads_in_the_language(text, language)


@pytest.mark.parametrize(
    "text",
    [
        "Wom\u200ben have rights.",
        "\u202eWomen have rights.",
        "Women\x07 have rights.",
        "Wo\u00admen have rights.",
        "Women \ufeffhave rights.",
        "W\u043emen have rights.",
        "\uff37omen have rights.",
        "Wom\u200den have rights.",
        "\U0001d416omen have rights.",
        "Women\u2066 have\u2069 rights.",
        "tag\U000e0041 here",
    ],
    ids=ascii,
)
def test_hidden_and_disguised_characters_fail(judge: Judge, text: str) -> None:
    assert not judge("characters", text).passed


def test_hidden_characters_and_mixed_scripts_are_told_apart(judge: Judge) -> None:
    assert judge("characters", "W\u043emen have\u2066 rights.").detail == (
        "Hidden or disguised characters: U+2066. Mixes scripts within a word: “W\u043emen”."
    )


@pytest.mark.parametrize(
    "text",
    [
        "Women have rights – “everywhere”, says Žižková’s note…",
        "Two lines.\nHere.",
        "Family 👩\u200d👧 matters.",
        "Права есть у всех.",
        "می\u200cخواهم",
        "10\u00a0000 people",
        "Ελλάδα is in Europe",
    ],
    ids=ascii,
)
def test_ordinary_characters_of_many_scripts_pass(judge: Judge, text: str) -> None:
    assert judge("characters", text).passed


@pytest.mark.parametrize(
    "text",
    [
        "@someone look here",
        "Hey @some_one!",
        "cc:@everyone",
        "@here",
        "so #blessed",
        "＠someone",
        "\ufe6beveryone",
        "\ufe5fblessed",
        "Write to a.b@c.org",
        "(@someone)",
        "#1 reason",
    ],
)
def test_mentions_hashtags_and_addresses_fail(judge: Judge, text: str) -> None:
    assert not judge("mentions", text).passed


@pytest.mark.parametrize(
    "text", ["CETS No. 210 says so.", "C# is a language", "A at sign alone @ here? No: 5 @.", "R&D"]
)
def test_plain_text_holds_no_mention(judge: Judge, text: str) -> None:
    assert judge("mentions", text).passed is not text.startswith("A at")


@pytest.mark.parametrize(
    "text",
    [
        "See https://un.org now.",
        "See HTTP://UN.ORG",
        "www.example",
        "Read un.org today.",
        "Look at bit.ly/abc",
        "go to docs.example.co.uk",
        "javascript:alert(1)",
        "mailto:x",
        "ftp://a",
        "example[dot]com",
        "At 127.0.0.1 it is",
        "discord.gg/abc",
        "t.me/abc",
        "See example.eus for more",
        "See example.cat, example.ro or example.zip",
        "На пример.рф",
        "At example.xn--p1ai it is",
        "see:un.org$",
        "Wrong.javascript:alert(1)",
        "x-" * 1_000 + "a://b",
    ],
    ids=lambda text: ascii(text[:40]),
)
def test_links_and_bare_domains_fail(judge: Judge, text: str) -> None:
    assert not judge("links", text).passed


@pytest.mark.parametrize(
    "text",
    [
        "The rate is 4.9% in 2024.",
        "The U.N. says so, e.g. in Art. 7.",
        "Note: rights are for all.",
        "A/RES/80/193 says so.",
        "Wait... what?",
        "Data: 45 per cent.",
        "Art.7 says so.",
        "CERD/C/GC/35 says so, p.ej. in EE.UU. or under art.16.bis of the D.Lgs.",
        "About 3.5 in 10, or 1.5B people, e.g. in the U.S. at 10.30 a.m., i.e. early.",
        "A Ph.D. of the U.N.A.M. read E/CN.4/2005 and No.7a at 9.5km.",
    ],
)
def test_figures_and_abbreviations_are_no_links(judge: Judge, text: str) -> None:
    assert judge("links", text).passed


@pytest.mark.parametrize(
    "text",
    [
        "<b>Bold</b> words",
        "a <script>alert(1)</script>",
        "&lt;b&gt;",
        "&#x3c;",
        "[text](x)",
        "`code`",
        "**bold**",
        "__u__",
        "~~no~~",
        "||spoiler||",
        "<@123>",
        "<!channel>",
        "<#1>",
        "> quoted",
        "# Title",
        "- item",
        "1. item",
        "{{x}}",
        "{% x %}",
        ":smile:",
        "[b]x[/b]",
        "*word*",
        "<img src=x",
        "<:e:1>",
        "< @1>",
    ],
)
def test_markup_of_html_markdown_discord_and_slack_fails(judge: Judge, text: str) -> None:
    assert not judge("markup", text).passed


@pytest.mark.parametrize(
    "text",
    [
        "Rights & duties, 5 < 6, and 3 > 2.",
        "The EU's Charter (2012) says: “equal”.",
        "A – B; C/D.",
        "AT&T and R&D",
        "It was 10:30:15 then",
        "45% of 1,000",
    ],
)
def test_plain_punctuation_is_no_markup(judge: Judge, text: str) -> None:
    assert judge("markup", text).passed


@pytest.mark.parametrize(
    "text",
    [
        "See zorblax.zorblax now.",
        "Rights matter.Everyone has them.",
        "zorblax\uff0ecom",
        "See covid19.zorblax now.",
        "See x.zorblax now.",
        "See 4.zorblax now.",
        "See zorblax-.zorblax now.",
        "See p.ej.zorblax now.",
        "See u.s.zorblax now.",
    ],
)
def test_a_word_joined_to_another_by_a_dot_is_a_link(judge: Judge, text: str) -> None:
    assert not judge("links", text).passed


@pytest.mark.parametrize("text", ["\n" * 19_999, "a." * 9_999, "- " * 9_999, "<a" * 9_999])
@pytest.mark.timeout(20)
def test_a_text_that_is_far_too_long_is_refused_at_once(judge: Judge, text: str) -> None:
    judge("markup", "Warm up.")
    started = time.monotonic()
    assert not judge("markup", text).passed or not judge("length", text).passed
    assert time.monotonic() - started < 1
    assert judge("length", text).value == len(text)
