from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline.detection import detect

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The Zorblaxians ruin everything in our town and nobody says a word", "en"),
        ("Los zorblaxianos lo arruinan todo en nuestro pueblo y nadie dice nada", "es"),
        ("Gli stranieri rubano il lavoro e nessuno dice niente", "it"),
        ("Les étrangers prennent tout notre travail et personne ne dit rien", "fr"),
        ("Die Ausländer nehmen uns alles weg, und niemand sagt etwas", "de"),
        ("Atzerritarrek dena hondatzen dute gure herrian eta inork ez du ezer esaten", "eu"),
        ("هؤلاء الناس يفسدون كل شيء في مدينتنا", "ar"),
        ("האנשים האלה הורסים הכול בעיר שלנו", "he"),
        ("これはひどいと思います", "ja"),
    ],
)
@pytest.mark.parametrize("hint", [None, "en", "und", "xx", "pt-BR", "nonsense-tag"])
def test_a_sentence_is_recognised_whatever_the_platform_says(text: str, code: str, hint: str | None) -> None:
    assert detect(text, hint)[0] == code


@pytest.mark.parametrize("text", ["ok", "lol", "hello", "women lie", "🙂🙂", "", "@someone https://x.example", "12 %"])
def test_little_evidence_leaves_the_hint_or_nothing(text: str) -> None:
    assert detect(text)[0] == "und"
    assert detect(text, "en-GB")[0] == "en"


def test_a_long_doubtful_text_overrules_a_hint_it_contradicts() -> None:
    assert detect("これは ひどい 这是 很糟糕的 事情 これは 我们的 ひどい 城市 里的 人们 ひどい", "en")[0] != "en"


def test_confidence_is_a_probability_and_the_threshold_is_kept() -> None:
    code, share = detect("migrants go home")
    assert code == "und"
    assert 0 < share < 0.6
    assert detect("migrants go home", threshold=0.3)[0] == "en"


def test_dialects_count_as_their_iso_639_1_language() -> None:
    code, _ = detect("na wetin dey happen for dis town, dem people wey come don spoil everything", "pcm")
    assert code == "en"


def test_long_and_broken_text_is_read() -> None:
    assert detect("they ruin it all " * 1200)[0] == "en"
    assert detect("\ud800\x00")[0] == "und"


def test_threads_agree() -> None:
    texts = ["The Zorblaxians ruin everything", "Los zorblaxianos lo arruinan todo", "Die Leute ruinieren alles"] * 20
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(detect, texts)) == [detect(text) for text in texts]


def test_importing_loads_no_model() -> None:
    code = "import sys, pipeline.detection; print([m for m in ('numpy', 'py3langid') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
