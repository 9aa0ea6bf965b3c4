from __future__ import annotations

import pytest

from core.sentences import split


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Rights are equal. They are for all.", "en", ("Rights are equal.", "They are for all.")),
        ("It is 4.9% in A/RES/80/193. So be it.", "en", ("It is 4.9% in A/RES/80/193.", "So be it.")),
        ("¿Por qué? Nadie lo sabe.", "es", ("¿Por qué?", "Nadie lo sabe.")),
        ("One line\nanother line", "und", ("One line", "another line")),
        ("Well… Maybe.", "en", ("Well…", "Maybe.")),
        ("Ez da egia. Hori da.", "eu", ("Ez da egia.", "Hori da.")),
        ("The Fed. Reserve raised rates.", "en", ("The Fed. Reserve raised rates.",)),
        ("Lo dice il Min. Rossi.", "it", ("Lo dice il Min. Rossi.",)),
        ("Lo disse Ma. Teresa ieri.", "it", ("Lo disse Ma. Teresa ieri.",)),
        ("Guarda la TV. Oggi no.", "it", ("Guarda la TV.", "Oggi no.")),
        ("Lo decía de los rom. Vale la pena.", "it", ("Lo decía de los rom.", "Vale la pena.")),
        ("Spero che lo sia. Oggi no.", "it", ("Spero che lo sia.", "Oggi no.")),
        ("Lo dice l'Istat. È un dato.", "it", ("Lo dice l'Istat.", "È un dato.")),
        ("Son personas trans. Viven aquí.", "es", ("Son personas trans.", "Viven aquí.")),
        ("Hitz horrek min. Utzi.", "eu", ("Hitz horrek min.", "Utzi.")),
        ("Lo dice il dott. Rossi.", "it", ("Lo dice il dott. Rossi.",)),
        ("", "en", ()),
    ],
)
def test_sentences_are_told_apart(text: str, language: str, expected: tuple[str, ...]) -> None:
    assert split(text, language) == expected


def test_after_an_unfinished_abbreviation_the_sentence_goes_on() -> None:
    text = "This is in Xyz. 7 of the law."
    assert split(text, unfinished=("xyz",)) == (text,)
    assert len(split(text)) == 2
