from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import BadInput
from kb.extract.pdf import read_pdf
from kb.extract.structure import blocks_of

Text = tuple[float, float, float, str]
MakePdf = Callable[[list[list[Text]]], bytes]


def page(number: int, *body: str, note: str = "") -> list[Text]:
    texts: list[Text] = [(72, 800, 9, "Annual report on the Zorblaxian coast"), (280, 30, 9, f"Page {number} of 9")]
    texts += [(72, 720 - 13 * row, 11, line) for row, line in enumerate(body)]
    return texts + ([(72, 70, 8, f"{number} {note}")] if note else [])


def texts_of(content: bytes) -> list[str]:
    return [passage.text for passage in read_pdf(content, "en").passages]


def test_drops_running_heads_page_numbers_and_footnotes(make_pdf: MakePdf) -> None:
    body = [f"The {word} chapter tells of the harbours and of those who" for word in ("first", "second", "third")]
    pages = [page(n, line, "mend the boats there.", note="See A/1/2, para. 3.") for n, line in enumerate(body, start=1)]
    assert texts_of(make_pdf(pages)) == [f"{line} mend the boats there." for line in body]


def test_joins_hyphenated_line_ends_as_the_document_writes_the_word(make_pdf: MakePdf) -> None:
    body = page(
        1,
        "Discrimination in the right-wing press was said to be discrim-",
        "ination of a kind that non-governmental bodies and non-",
        "governmental observers of the right-",
        "wing press had seen, without co-",
        "operation from anyone.",
    )
    (text,) = [text for text in texts_of(make_pdf([body])) if "harbour" not in text and "Zorblax" not in text]
    assert "to be discrimination of a kind" in text
    assert "bodies and non-governmental observers of the right-wing press" in text
    assert text.endswith("without cooperation from anyone.")


def test_leaves_out_superscript_footnote_marks(make_pdf: MakePdf) -> None:
    body: list[Text] = [
        (72, 700, 11, "adopted in 1999 by all of the coastal states"),
        (292, 705, 6, "12"),
        (72, 687, 11, "and by two of the islands."),
    ]
    assert texts_of(make_pdf([body])) == ["adopted in 1999 by all of the coastal states and by two of the islands."]


def test_drops_a_table_of_contents(make_pdf: MakePdf) -> None:
    contents = page(1, "Contents", "The harbours . . . . . . 2", "The islands ............ 4", "Sources ........ 9")
    body = page(2, "The harbours are open to everybody who arrives by sea or by land.")
    assert texts_of(make_pdf([contents, body])) == ["The harbours are open to everybody who arrives by sea or by land."]


def test_joins_a_paragraph_across_pages_and_cites_the_page_it_begins_on(make_pdf: MakePdf) -> None:
    content = make_pdf(
        [
            page(1, "The council found that the harbours were open to"),
            page(2, "everybody who arrived."),
            page(3, "It then rose."),
        ]
    )
    passages = [(passage.text, passage.page) for passage in read_pdf(content, "en").passages]
    assert passages[0] == ("The council found that the harbours were open to everybody who arrived.", 1)


def test_tells_a_torn_a_locked_and_a_wrongly_named_file_apart(make_pdf: MakePdf) -> None:
    whole = make_pdf([page(1, "The harbours are open.")])
    with pytest.raises(BadInput, match="torn"):
        read_pdf(whole[:200], "en")
    with pytest.raises(BadInput, match="is no PDF"):
        read_pdf(b"<html>Just a moment...</html>", "en")


def test_cites_a_resolution_by_paragraph_and_drops_its_masthead(shared: Path) -> None:
    reading = read_pdf((shared / "un_docs/pdf/A_RES_80_193.pdf").read_bytes(), "en")
    blocks = blocks_of(reading.passages)
    by_place = {block.place: block.text for block in blocks}
    assert blocks[0].text == "The General Assembly,"
    assert by_place["Paragraph 2"].startswith("2. Underscores that 2025 marks the sixtieth anniversary")
    assert [f"Paragraph {n}" in by_place for n in range(1, 67)] == [True] * 66
    text = " ".join(block.text for block in blocks)
    assert not re.search(r"25-20895|Distr\.|62nd plenary meeting|Ibid\.|_____", text)
    assert "World Conference, in particular its resolutions 66/144" in text


@pytest.mark.parametrize("name", ["A_RES_80_193", "A_RES_78_217", "A_RES_79_193", "A_RES_80_191"])
def test_keeps_the_words_of_real_resolutions(shared: Path, name: str) -> None:
    blocks = blocks_of(read_pdf((shared / f"un_docs/pdf/{name}.pdf").read_bytes(), "en").passages)
    extracted = words(" ".join(block.text for block in blocks))
    listed = json.loads((shared / f"un_docs/extracted_json/{name}.json").read_text(encoding="utf-8"))["paragraphs"]
    # The recorded text has running heads, section titles and footnotes inside its paragraphs: these we leave out.
    recorded = words(" ".join(listed.values()))
    assert sum((recorded & extracted).values()) >= 0.96 * sum(recorded.values())


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\W\d_]{3,}", text.casefold()))
