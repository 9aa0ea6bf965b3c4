from __future__ import annotations

from kb.extract.passages import Passage
from kb.extract.structure import blocks_of


def heading(text: str) -> Passage:
    return Passage(text, heading=True)


def test_cuts_the_testimonium_and_the_signatures_but_not_the_annex() -> None:
    blocks = blocks_of(
        [
            heading("Article 1"),
            Passage("The harbours are open."),
            heading("Article 2"),
            Passage("This text is deposited. IN WITNESS WHEREOF the undersigned have signed."),
            Passage("For Zorblax: Q. Quux"),
            heading("Annex I"),
            Passage("List of harbours."),
        ]
    )
    assert [(block.place, block.text) for block in blocks] == [
        ("Article 1", "The harbours are open."),
        ("Article 2", "This text is deposited."),
        ("Annex I", "List of harbours."),
    ]


def test_cuts_a_closing_done_at() -> None:
    blocks = blocks_of(
        [
            heading("Article 1"),
            Passage("The harbours are open."),
            heading("Article 2"),
            Passage("They stay open."),
            Passage("Done at Zorblaxia, this 4th day of June 1950."),
            Passage("Q. Quux"),
        ]
    )
    assert [block.text for block in blocks] == ["The harbours are open.", "They stay open."]


def test_numbers_in_an_annex_start_again() -> None:
    blocks = blocks_of(
        [
            Passage("The General Assembly,"),
            Passage("1. Decides to open the harbours;"),
            Passage("2. Decides to rest."),
            Passage("62nd plenary meeting 15 December 2025"),
            Passage("Q. Quux"),
            heading("Annex"),
            Passage("1. The harbours are these."),
        ]
    )
    assert [block.place for block in blocks] == ["Preamble", "Paragraph 1", "Paragraph 2", "Annex, paragraph 1"]


def test_a_short_list_does_not_make_numbered_paragraphs() -> None:
    blocks = blocks_of([Passage("Three harbours:", page=4), Passage("1. One.", page=4), Passage("2. Two.", page=5)])
    assert [block.place for block in blocks] == ["Page 4", "Page 4", "Page 5"]


def test_a_mention_of_an_article_opens_none() -> None:
    blocks = blocks_of(
        [
            heading("Article 1"),
            Passage("The harbours are open."),
            heading("Article 2 – Fees"),
            Passage("Article 1 of the Convention on Fees applies here as well."),
        ]
    )
    assert [block.place for block in blocks] == ["Article 1", "Article 2"]


def test_a_page_without_numbers_is_cited_by_its_headings() -> None:
    blocks = blocks_of(
        [heading("Key findings"), Passage("The harbours are open."), heading("Method"), Passage("We asked.")]
    )
    assert [block.place for block in blocks] == ["“Key findings”", "“Method”"]
