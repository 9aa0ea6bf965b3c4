from __future__ import annotations

from kb.paragraphs import FEWEST_WORDS, MOST_WORDS, Block, count_words, paragraphs_of, sentences


def prose(words: int, name: str = "word") -> str:
    """Return sentences of ten words."""
    parts = [f"{name}{n}" for n in range(words)]
    return " ".join(
        f"{part.capitalize()}" if n % 10 == 0 else f"{part}." if n % 10 == 9 else part for n, part in enumerate(parts)
    )


def test_merges_short_neighbours_of_one_article_only() -> None:
    blocks = [
        Block(prose(20, "a"), "Article 1", "Article 1"),
        Block(prose(30, "b"), "Article 1", "Article 1"),
        Block(prose(10, "c"), "Article 2", "Article 2"),
    ]
    assert [(paragraph.key, count_words(paragraph.text)) for paragraph in paragraphs_of(blocks)] == [
        ("article-1", 50),
        ("article-2", 10),
    ]


def test_splits_long_texts_at_sentences_into_like_parts() -> None:
    parts = paragraphs_of([Block(prose(400), "Recital 7", "Recitals")])
    assert [part.key for part in parts] == ["recital-7", "recital-7.2", "recital-7.3"]
    assert all(120 <= count_words(part.text) <= 140 and part.text.endswith(".") for part in parts)


def test_splits_one_endless_sentence_at_its_clauses() -> None:
    clauses = "; ".join(" ".join(f"c{n}w{w}" for w in range(30)) for n in range(10))
    parts = paragraphs_of([Block(f"{clauses}.", "Paragraph 3", "1")])
    assert all(FEWEST_WORDS <= count_words(part.text) <= MOST_WORDS for part in parts)
    assert all(part.text.endswith((";", ".")) for part in parts)
    assert " ".join(part.text for part in parts) == f"{clauses}."


def test_keeps_every_paragraph_within_bounds_and_loses_no_word() -> None:
    sizes = [3, 175, 20, 500, 12, 39, 41, 180, 181, 5, 90, 1]
    blocks = [Block(prose(size, f"x{n}n"), f"Page {n}", "1") for n, size in enumerate(sizes)]
    paragraphs = paragraphs_of(blocks)
    assert all(FEWEST_WORDS <= count_words(paragraph.text) <= MOST_WORDS for paragraph in paragraphs)
    assert (
        " ".join(paragraph.text for paragraph in paragraphs).split() == " ".join(block.text for block in blocks).split()
    )


def test_names_the_span_of_merged_paragraphs() -> None:
    blocks = [
        Block(prose(20, "a"), "Paragraph 12", "1"),
        Block(prose(15, "b"), "Paragraph 13", "1"),
        Block(prose(20, "c"), "Paragraph 14", "1"),
    ]
    (paragraph,) = paragraphs_of(blocks)
    assert (paragraph.place, paragraph.key) == ("Paragraphs 12-14", "paragraphs-12-14")


def test_an_introduction_joins_what_it_introduces() -> None:
    blocks = [
        Block(prose(60, "a"), "Paragraph 1", "1"),
        Block("2. Calls upon the harbours:", "Paragraph 2", "1"),
        Block(prose(60, "b"), "Paragraph 2", "1"),
    ]
    assert [paragraph.place for paragraph in paragraphs_of(blocks)] == ["Paragraph 1", "Paragraph 2"]


def test_keys_stay_when_another_article_changes() -> None:
    before = paragraphs_of([Block(prose(60), "Article 1", "Article 1"), Block(prose(90), "Article 2", "Article 2")])
    after = paragraphs_of([Block(prose(300), "Article 1", "Article 1"), Block(prose(90), "Article 2", "Article 2")])
    assert before[-1] == after[-1]


def test_abbreviations_and_numbers_end_no_sentence() -> None:
    text = "See art. 18 and No. 5 of the list. In 2019, 4.9% of Mr. Zorblax’s ships sank. Why? Nobody knows."
    assert sentences(text) == [
        "See art. 18 and No. 5 of the list.",
        "In 2019, 4.9% of Mr. Zorblax’s ships sank.",
        "Why?",
        "Nobody knows.",
    ]


def test_a_sentence_keeps_its_list_mark_and_its_closing_quotation_mark() -> None:
    assert sentences('2. They say: "All are free." It stays so.') == ['2. They say: "All are free."', "It stays so."]


def test_abbreviations_are_those_of_the_language() -> None:
    text = "Según el núm. 5 de la ley, todos son libres. Así es."
    assert sentences(text, "es") == ["Según el núm. 5 de la ley, todos son libres.", "Así es."]


def test_a_long_text_without_spaces_is_split_at_its_sentences() -> None:
    parts = paragraphs_of([Block("人人有权享有生命、自由和人身安全。" * 40, "Article 3", "Article 3")])
    assert len(parts) > 1
    assert all(count_words(part.text) <= MOST_WORDS for part in parts)
