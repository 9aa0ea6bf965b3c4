from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import docx
import pytest

from core.errors import BadInput
from kb.extract.formats import read
from kb.extract.structure import blocks_of

PAGE = """<html><head><title>t</title></head><body><nav><a href="/">Home</a> <a href="/x">Harbours</a></nav>
<main><h1>The open harbours</h1><p>{0}</p><p>{1}</p></main>
<footer>Copyright, cookies and contact</footer></body></html>"""
ONE = "The harbours of the coast have been open to everybody for three hundred years, and nobody came to harm by it."
TWO = "In the year 2019 the council counted 412 arrivals, of whom most found work in the yards within the first year."


def texts(content: bytes, name: str) -> list[str]:
    return [block.text for block in blocks_of(read(content, name, "en").passages)]


def test_takes_the_main_text_of_a_web_page() -> None:
    assert texts(PAGE.format(ONE, TWO).encode(), "x.html") == [ONE, TWO]


def test_keeps_the_articles_of_a_page_that_numbers_them(shared: Path) -> None:
    content = (shared / "instruments/udhr/udhr_eng.html").read_bytes()
    blocks = blocks_of(read(content, "udhr_eng.html", "en").passages)
    by_place = {block.place: block.text for block in blocks}
    assert by_place["Article 1"].startswith("All human beings are born free and equal")
    assert by_place["Article 30"].startswith("Nothing in this Declaration")
    assert by_place["Preamble"].startswith("Proclaims")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("spa.html", "Article 30"),
        ("deu_1996.html", "Article 30"),
        ("fra.html", "Article 1"),
        ("cmn_hans.html", "“第三十条”"),
    ],
)
def test_reads_the_declaration_in_other_languages(shared: Path, name: str, place: str) -> None:
    content = (shared / "instruments/udhr" / name).read_bytes()
    assert place in {block.place for block in blocks_of(read(content, name).passages)}


def test_reads_word_files_without_headers_and_contents() -> None:
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Confidential draft"
    document.add_heading("Article 1", 1)
    document.add_paragraph(ONE)
    document.add_heading("Article 2", 1)
    document.add_paragraph(TWO)
    document.add_table(1, 2).rows[0].cells[0].text = "412"
    out = BytesIO()
    document.save(out)
    blocks = blocks_of(read(out.getvalue(), "x.docx", "en").passages)
    assert [(block.place, block.text) for block in blocks] == [("Article 1", ONE), ("Article 2", TWO)]


def test_reads_plain_text_with_wrapped_lines() -> None:
    wrapped = f"{ONE[:50]}\n{ONE[50:]}\n\n{TWO[:60]}\n{TWO[60:]}\n"
    assert [text.replace(" ", "") for text in texts(wrapped.encode(), "x.txt")] == [
        ONE.replace(" ", ""),
        TWO.replace(" ", ""),
    ]


def test_reads_plain_text_that_is_not_utf_8() -> None:
    text = "El año pasado la comisión contó más niños y niñas en la región, según informó la organización de España."
    assert texts(text.encode("cp1252"), "x.txt") == [text]


def test_reads_markdown_with_and_without_a_space_after_the_marks() -> None:
    text = (
        f"####Convention on Harbours\n\n* [One](#one)\n\n### Article  1\n\n1. {ONE}\n2. {TWO}\n\n"
        f"###Article 2\n\n{ONE}\n"
    )
    blocks = blocks_of(read(text.encode(), "x.md", "en").passages)
    assert [(block.place, block.text) for block in blocks] == [
        ("Article 1", f"1. {ONE}"),
        ("Article 1", f"2. {TWO}"),
        ("Article 2", ONE),
    ]


def test_a_list_is_cut_alike_in_json_and_in_markdown_whose_spaces_were_lost() -> None:
    """So that the same article of a treaty in two files is one paragraph."""
    article = f"Everybody may:(a) {ONE[:-1]};(b) {TWO}"
    treaty = {"articles": [{"content_en": article}]}
    markdown = f"### Article 1\n\nEverybody may:\n\n(a){ONE[:-1]};\n\n(b){TWO}\n\n### Article 2\n\n{ONE}\n"
    blocks = ["Everybody may:", f"(a) {ONE[:-1]};", f"(b) {TWO}"]
    assert texts(json.dumps(treaty).encode(), "x.json") == blocks
    assert texts(markdown.encode(), "x.md")[:3] == blocks


def test_cuts_the_signature_pages_of_a_treaty(shared: Path) -> None:
    content = (shared / "instruments/open_treaties_json/icerd.json").read_bytes()
    last = [block for block in blocks_of(read(content, "icerd.json", "en").passages) if block.place == "Article 25"]
    text = " ".join(block.text for block in last)
    assert text.endswith("article 17, paragraph 1, of the Convention.")
    assert "Russian and Spanish texts" in text


def test_reads_a_resolution_from_json_by_paragraph(shared: Path) -> None:
    content = (shared / "un_docs/extracted_json/A_RES_80_193.json").read_bytes()
    by_place = {block.place: block.text for block in blocks_of(read(content, "x.json", "en").passages)}
    assert by_place["Paragraph 2"].startswith("2. Underscores that 2025 marks the sixtieth anniversary")
    assert "Paragraph 66" in by_place


@pytest.mark.parametrize(
    ("content", "name", "complaint"),
    [
        (b"  \n", "x.txt", "empty"),
        (b"%PDF-1.7 and then nothing", "x.pdf", "torn"),
        (b"PK\x03\x04 and then nothing", "x.docx", "no DOCX"),
        (b'{"articles": [1', "x.json", "torn"),
        (json.dumps({"title": "x"}).encode(), "x.json", "JSON needs"),
        (b"<html><body><script>challenge()</script></body></html>", "x.html", "no text"),
        (b"<feed><entry/></feed>", "x.xml", "neither Formex nor XHTML"),
        (b"a,b\n1,2\n", "x.csv", "can't be read"),
    ],
)
def test_says_what_is_wrong_with_a_file_and_what_to_do(content: bytes, name: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        read(content, name, "en")
