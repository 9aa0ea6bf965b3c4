from __future__ import annotations

from collections.abc import Callable

import pytest

from core.domain import Check

Judge = Callable[..., Check]


@pytest.mark.parametrize(
    "text",
    [
        "I agree with you.",
        "I completely agree.",
        "You are absolutely right.",
        "You're right about this.",
        "Well said!",
        "You have a point there.",
        "That is so true.",
        "It is true that rights matter.",
        "There is some truth in it.",
        "Exactly, everyone deserves respect.",
        "Yes, equal rights are nice.",
        "Indeed, they should respect us.",
        "It is not a myth, people deserve to know.",
        "Nobody can deny that they cost us our rights.",
        "This is not false.",
        "No wonder people lose respect.",
        "Deport them all, for justice.",
        "They had it coming, justice was done.",
        "The post is correct about equal rights.",
        "It is a fact that rights are lost.",
    ],
)
def test_agreeing_fails_even_beside_talk_of_rights(judge: Judge, text: str) -> None:
    assert not judge("stance", text).passed


@pytest.mark.parametrize(
    "text",
    [
        "Women are weak and deserve respect.",
        "Muslims are dangerous.",
        "Migrants are a threat to our rights.",
        "They are all criminals and protected by law.",
        "Jews control the media, with equal rights.",
        "Disabled people are simply a burden.",
        "These people steal, not work, and have rights.",
        "Gay people are really sick.",
        "Dangerous migrants have rights.",
        "Women should be locked up for justice.",
        "Muslims should go back, with dignity.",
        "Women should stay in the kitchen, with respect.",
        "They're not people, they are animals.",
        "Why are Muslims so violent?",
        "Jewish people run the banks.",
        "Migrants are dangerous, and saying otherwise is wrong.",
        "Women belong at home because they are too emotional.",
        "Black people are inferior.",
        "The Roma are thieves.",
        "Calling them refugees changes nothing: they are criminals.",
        "Our culture does not survive this, migrants are criminals.",
    ],
)
def test_a_derogatory_word_on_a_whole_group_fails(judge: Judge, text: str) -> None:
    assert not judge("stance", text, post="zorblax").passed


@pytest.mark.parametrize(
    "text",
    [
        "Women do not deserve equal rights.",
        "Migrants have no right to stay.",
        "They should not be allowed to vote.",
        "Muslims cannot be our neighbours or belong here.",
        "Women don't belong in politics.",
        "Jews have never been entitled to protection.",
        "LGBT people want special rights.",
        "We should take away their rights.",
        "People with disabilities are not equal.",
    ],
)
def test_denying_a_group_its_rights_fails(judge: Judge, text: str) -> None:
    assert not judge("stance", text).passed


@pytest.mark.parametrize(
    "text",
    [
        "Equality is a myth.",
        "The definition of antisemitism is a lie.",
        "CEDAW and its guarantee of public office are a hoax.",
        "This convention is nonsense.",
        "It is a myth that states must guarantee public office.",
        "The Holocaust is a myth.",
        "The idea of equal rights is fake.",
        "That resolution is propaganda.",
    ],
)
def test_calling_the_evidence_or_a_right_untrue_fails(judge: Judge, text: str) -> None:
    assert not judge("stance", text).passed


@pytest.mark.parametrize(
    "text",
    [
        "Nice weather today.",
        "Migrants exist.",
        "There are many opinions.",
        "The sky is blue. Water is wet.",
    ],
)
def test_taking_no_stand_fails(judge: Judge, text: str) -> None:
    assert not judge("stance", text).passed


@pytest.mark.parametrize(
    "text",
    [
        "That is not true.",
        "The claim that women are weak is false.",
        "It is a myth that migrants are dangerous.",
        "Muslims are not terrorists.",
        "Women are not inferior to anyone.",
        "What makes you think that Jews control the media?",
        "Everyone deserves respect.",
        "Women must not be denied equal rights.",
        "Migrants should never be stripped of their rights.",
        "Do you really believe that women are less able?",
        "I don't agree.",
        "I do not agree with this.",
        "You are not right about this.",
        "It is not true that they steal.",
        "It is wrong to call disabled people a burden.",
        "Blaming migrants is unfair.",
        "Women are at greater risk of violent attacks, and deserve protection.",
        "Muslims face threats and deserve safety.",
        "No one deserves this.",
        "Migrants are not a threat to our rights.",
        "The stereotype that women are irrational is baseless.",
        "Women have the right to vote in every country.",
        "Under CEDAW, states must guarantee women the right to hold public office.",
        "Such claims are false.",
        "Discrimination against women is wrong.",
        "Nobody has the right to attack people for their faith.",
        "Jewish people are our neighbours.",
        "It is not unfair to women to speak up for their rights.",
    ],
)
def test_refuting_questioning_correcting_or_affirming_passes(judge: Judge, text: str) -> None:
    check = judge("stance", text)
    assert check.passed, check.detail


@pytest.mark.parametrize(
    ("language", "text", "fits"),
    [
        ("es", "Tienes razón, las mujeres tienen derechos.", False),
        ("es", "Las personas musulmanas son peligrosas.", False),
        ("es", "Los inmigrantes no son peligrosos y merecen respeto.", True),
        ("es", "Eso no es cierto.", True),
        ("it", "Hai ragione, tutti hanno diritti.", False),
        ("it", "Gli immigrati sono pericolosi.", False),
        ("it", "Le donne meritano rispetto.", True),
        ("fr", "Vous avez raison sur les droits.", False),
        ("fr", "Les migrants sont dangereux.", False),
        ("fr", "Les femmes méritent le respect.", True),
        ("de", "Das stimmt, alle haben Rechte.", False),
        ("de", "Muslime sind gefährlich.", False),
        ("de", "Alle Menschen verdienen Respekt.", True),
        ("pt", "As mulheres merecem respeito.", False),
    ],
)
def test_five_languages_are_judged_and_others_left_to_people(
    judge: Judge, language: str, text: str, fits: bool
) -> None:
    check = judge("stance", text, language=language)
    assert check.passed is fits, check.detail


def test_the_detail_says_which_words_are_at_fault(judge: Judge) -> None:
    assert "you are right" in judge("stance", "You are right. Respect matters.").detail


@pytest.mark.parametrize(
    ("post", "text"),
    [
        (
            "The shipwreck is pure propaganda.",
            "The shipwreck happened, it is not propaganda, and people deserve respect.",
        ),
        (
            "The shipwreck never happened, its all just propaganda.",
            "The shipwreck happened, it is not propaganda, and people deserve respect.",
        ),
        ("The shipwreck is a myth, sailors invent it.", "It's no myth. Those who died deserve respect."),
        ("The shipwreck is so exaggerated lol", "It is not exaggerated. Those who died deserve respect."),
        ("…", "Denying the Holocaust is a lie, and it wounds people who deserve respect."),
        ("…", "Anyone can need shelter, and that is why the right to it belongs to all."),
    ],
)
def test_who_denies_what_the_post_denies_agrees_with_nobody(judge: Judge, post: str, text: str) -> None:
    assert judge("stance", text, post=post).passed


@pytest.mark.parametrize(
    ("language", "post", "text"),
    [
        ("en", "Sailors ruin the port.", "It is not a myth, people deserve to know."),
        ("en", "The shipwreck is a myth, sailors invent it.", "Sailors ruin the port. It is no myth that they do."),
        ("en", "It's no myth: sailors ruin the port.", "It is no myth, and people deserve to know what sailors do."),
        (
            "en",
            "They call the great shipwreck a hoax.",
            "The great shipwreck is no hoax, and people deserve to know it.",
        ),
        (
            "en",
            "Forget the media propaganda. Sailors ruin the port.",
            "This is not propaganda, and people deserve to know.",
        ),
        (
            "en",
            "Don't believe the liberal media when they pretend that the great shipwreck is a myth",
            "The great shipwreck is no myth, and people deserve to know it.",
        ),
        (
            "en",
            "It is not so that after all these years the great shipwreck is a myth.",
            "The great shipwreck is no myth, and people deserve to know it.",
        ),
        ("en", "Nobody should believe that the great shipwreck is a myth", "It is no myth. People deserve to know."),
        ("en", "Only idiots think the shipwreck is a myth", "It is no myth. People deserve to know."),
        ("en", "you think its a hoax? look at the crime they bring", "It is no hoax. People deserve to know."),
        ("en", "is it a hoax that sailors steal? look around", "It is no hoax. People deserve to know."),
        ("es", "Creen que el naufragio es mentira.", "No es mentira. La gente merece saberlo."),
        ("it", "Pensano che il naufragio è falso.", "Il naufragio non è falso, e la gente merita di saperlo."),
        (
            "es",
            "Dicen que es mentira, pero los marineros roban.",
            "No es mentira, los marineros roban y la gente merece saberlo.",
        ),
        ("en", "…", "The Holocaust is a lie, and people deserve respect."),
        ("en", "…", "Stop denying the Holocaust is a lie, people deserve respect."),
        ("en", "…", "Nobody should be jailed for denying the genocide never happened, with respect."),
    ],
)
def test_who_upholds_what_the_post_upholds_agrees_with_it(judge: Judge, language: str, post: str, text: str) -> None:
    assert not judge("stance", text, post=post, language=language).passed


def test_a_good_point_to_start_from_agrees_with_nobody(judge: Judge) -> None:
    assert not judge("stance", "Buen punto, y todos merecen respeto.", language="es").passed
    assert judge("stance", "Es un buen punto de partida: todos merecen respeto.", language="es").passed


@pytest.mark.parametrize(
    ("language", "text", "passed"),
    [
        ("en", "His comments about the harbour's people are not racist, and everyone deserves respect.", False),
        ("en", "That's not hateful, and everyone deserves respect.", False),
        ("en", "It isn't sexist to say so, and everyone deserves respect.", False),
        ("en", "If that is not racist, what is? Everyone deserves respect.", True),
        ("en", "Racism is not an opinion, and everyone deserves respect.", True),
        ("es", "Decir esto de la gente no es racismo, y todos merecen respeto.", False),
        ("es", "El racismo no es una opinión, y todos merecen respeto.", True),
        ("it", "Queste parole sul porto non sono razziste, e tutti meritano rispetto.", False),
        ("it", "Il razzismo non è un'opinione, e tutti meritano rispetto.", True),
        ("eu", "Hitz horiek ez dira arrazistak, eta denek merezi dute errespetua.", False),
        ("eu", "Arrazakeria ez da iritzi bat, eta denek merezi dute errespetua.", True),
    ],
)
def test_who_calls_hateful_words_harmless_stands_up_for_them(
    judge: Judge, language: str, text: str, passed: bool
) -> None:
    assert judge("stance", text, post="the harbour folk are dirt", language=language).passed is passed


@pytest.mark.parametrize(
    ("language", "text", "passed"),
    [
        ("en", "Equality is not a right; it is a principle, and everyone deserves respect.", False),
        ("en", "Asylum isn't a human right, though everyone deserves respect.", False),
        ("en", "Harassing people is not a right, and everyone deserves respect.", True),
        ("es", "La igualdad no es un derecho, aunque todos merecen respeto.", False),
        ("es", "Acosar a la gente no es un derecho; todos merecen respeto.", True),
        ("it", "L'asilo non è un diritto, anche se tutti meritano rispetto.", False),
        ("it", "Insultare non è un diritto; tutti meritano rispetto.", True),
        ("eu", "Berdintasuna ez da eskubidea, denek errespetua merezi duten arren.", False),
        ("eu", "Irainak botatzea ez da eskubidea; denek merezi dute errespetua.", True),
    ],
)
def test_who_says_that_a_right_is_none_denies_it(judge: Judge, language: str, text: str, passed: bool) -> None:
    assert judge("stance", text, post="the harbour folk are dirt", language=language).passed is passed
