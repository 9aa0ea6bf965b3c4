"""Read plain text, Markdown, and the JSON in which other projects store treaties and resolutions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.errors import BadInput
from kb.extract.layout import passages_of
from kb.extract.lines import Line, Page
from kb.extract.page_artifacts import drop_page_artifacts
from kb.extract.passages import Passage, Reading, reading_of, tidy
from kb.extract.web import decoded

_LEADING = 12.0
_LONG_LINE = 120
_GLUED_NOTE = re.compile(r"(?<=[a-z][,.;])\d{1,2}(?=\s)")
_GLUED_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])|(?<=[a-z)][,;.:])(?=[A-Z])")
_GLUED_ITEM = re.compile(r"(?<=[:;])(?=\([a-z]{1,4}\)\s)")
_GLUED_MARK = re.compile(r"^(\([a-z\d]{1,4}\)|[a-z]\.)(?=[A-Z])")
_PARTED_MARK = re.compile(r"^(\d{1,3}\.|\([a-z]{1,4}\)) ?\n", re.MULTILINE)
_CLOSING_PART = re.compile(r"\s*PART [IVX]+\s*$")
_SHAPES = (
    "JSON needs `text` (a resolution), or `articles` with `content_en` (a treaty), or `paragraphs`, a list of "
    "texts. Bring it into one of these forms."
)


def read_text(content: bytes, _language: str) -> Reading:
    """Read plain text: blank lines separate paragraphs, form feeds separate pages."""
    return _read_pages(decoded(content).split("\f"))


def read_markdown(content: bytes, _language: str) -> Reading:
    """Read Markdown; `##Heading` without a space is taken as a heading too."""
    text = re.sub(r"^(#{1,6})(?=[^#\s])", r"\1 ", decoded(content), flags=re.MULTILINE)
    return reading_of(list(_markdown(MarkdownIt("commonmark").enable("table").parse(text))))


def read_json(content: bytes, language: str) -> Reading:
    """Read a treaty or a resolution; raises BadInput for damaged JSON and for other structures."""
    try:
        data = json.loads(decoded(content))
    except ValueError as error:
        raise BadInput(f"The JSON is torn: {error}. Fetch it again.") from error
    if not isinstance(data, dict):
        data = {"paragraphs": data}
    if isinstance(data.get("articles"), list):
        return reading_of(list(_treaty(data, "zh" if language == "zh" else "en")))
    if isinstance(data.get("text"), str):
        return _read_pages([_PARTED_MARK.sub(r"\1 ", _GLUED_NOTE.sub("", page)) for page in data["text"].split("\n\n")])
    if isinstance(texts := data.get("paragraphs"), list) and all(isinstance(text, str) for text in texts):
        return reading_of([Passage(tidy(text)) for text in texts])
    raise BadInput(_SHAPES)


def _read_pages(pages: Sequence[str]) -> Reading:
    """Give lines the positions they would have on paper, so that running heads and paragraphs are found as in a PDF."""
    laid = [_page(number, page.split("\n")) for number, page in enumerate(pages, start=1)]
    if len(laid) == 1:
        return reading_of([Passage(passage.text, heading=passage.heading) for passage in passages_of(laid)])
    return Reading(tuple(passages_of(drop_page_artifacts(laid))), pages=len(laid))


def _page(number: int, rows: Sequence[str]) -> Page:
    lines, height = [], 0.0
    for row in reversed(rows):
        text = tidy(row)
        height += _LEADING * (2 if len(text) > _LONG_LINE else 1)
        if text:
            indent = (len(row) - len(row.lstrip())) * 5.0
            lines.append(Line(text, indent, indent + len(text) * 5.0, height - 10, height, 0.0))
    return Page(number, height, tuple(reversed(lines)))


def _markdown(tokens: Sequence[Token]) -> Iterator[Passage]:
    mark, heading = "", False
    for token in tokens:
        if token.type == "heading_open":
            heading = True
        elif token.type == "heading_close":
            heading = False
        elif token.type == "list_item_open":
            mark = f"{token.info}{token.markup} " if token.info else ""
        elif token.type == "inline" and not _is_contents_entry(token):
            text = tidy("".join(" " if part.type.endswith("break") else part.content for part in token.children or ()))
            # The parser takes a table with rows of different lengths for text, but it can't be quoted.
            if not text.startswith("|"):
                text = _GLUED_MARK.sub(r"\1 ", text)
                yield Passage(text and f"{'' if heading else mark}{text}", heading=heading)
            mark = ""


def _is_contents_entry(token: Token) -> bool:
    children = token.children or []
    return (
        bool(children)
        and children[0].type == "link_open"
        and children[-1].type == "link_close"
        and str(children[0].attrGet("href")).startswith("#")
    )


def _treaty(data: dict[str, Any], language: str) -> Iterator[Passage]:
    for part in _split_glued_words(str(data.get(f"preamble_{language}") or "")):
        yield Passage(part, place="Preamble")
    for number, article in enumerate(data["articles"], start=1):
        if not isinstance(article, dict):
            raise BadInput(_SHAPES)
        content = _CLOSING_PART.sub("", str(article.get(f"content_{language}") or ""))
        for line in _GLUED_ITEM.sub("\n", content).split("\n"):
            yield Passage(" ".join(_split_glued_words(line)), place=f"Article {number}")


def _split_glued_words(text: str) -> list[str]:
    """Split words that lost the space between them at an old line end: `andSpanish`, `Convention,Considering`."""
    parts = _GLUED_WORDS.sub("\n", text).split("\n")
    joined = [""]
    for part in parts:
        if joined[-1] and not joined[-1].endswith((",", ";", ".", ":")):
            joined[-1] = tidy(f"{joined[-1]} {part}")
        else:
            joined.append(tidy(part))
    return joined[1:]
