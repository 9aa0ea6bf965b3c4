"""WordPiece: the longest known piece first, without case and accents."""

from __future__ import annotations

import pytest

from models.wordpiece import LONGEST_WORD, WordPiece

PIECES = ("[UNK]", "the", "weather", "un", "##friend", "##ly", "caf", "##e", "!", "'", "s", "中", "–")
NUMBERS = {piece: number for number, piece in enumerate(PIECES)}


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("The weather", ["the", "weather"]),
        ("unfriendly", ["un", "##friend", "##ly"]),
        ("Café's!", ["caf", "##e", "'", "s", "!"]),
        ("unfriendlier the", ["[UNK]", "the"]),
        ("the中–the", ["the", "中", "–", "the"]),
        ("the\u200b\0 \t weather\n", ["the", "weather"]),
        ("", []),
        ("  ", []),
        (f"{'un' * LONGEST_WORD} the", ["[UNK]", "the"]),
    ],
)
def test_splits_as_bert_does(text: str, pieces: list[str]) -> None:
    assert WordPiece(NUMBERS, "[UNK]").tokens(text, 20) == [NUMBERS[piece] for piece in pieces]


def test_returns_no_more_tokens_than_asked_for() -> None:
    assert len(WordPiece(NUMBERS, "[UNK]").tokens("unfriendly " * 10_000, 7)) == 7


def test_agrees_with_the_library() -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the extra `entailment` is not installed")
    library = tokenizers.Tokenizer(tokenizers.models.WordPiece(NUMBERS, unk_token="[UNK]"))
    library.normalizer = tokenizers.normalizers.BertNormalizer()
    library.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    own = WordPiece(NUMBERS, "[UNK]")
    for text in ("The UNFRIENDLY  café’s weather!!", "中the中", "ÅÇ the–weather\r\nun", "$the^weather~", "\u00adthe"):
        assert own.tokens(text, 99) == library.encode(text, add_special_tokens=False).ids, text
