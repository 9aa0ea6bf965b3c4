"""Read web pages: those with numbered headings as they are, others by their main text."""

from __future__ import annotations

import re
from collections.abc import Iterator

import trafilatura
from charset_normalizer import from_bytes
from lxml import etree, html

from core.errors import BadInput
from kb.extract.law import is_eu_xhtml, read_eu_xhtml
from kb.extract.passages import Passage, Reading, reading_of, tidy

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = (*_HEADINGS, "p", "li", "td", "dd", "blockquote", "pre")
_SKIPPED = {"script", "style", "nav", "footer", "aside", "form", "template", "noscript"}
_NUMBERED = re.compile(r"\S+\s+(?:\d+|[IVXL]+)\b.*|\S*\d+\S*|第.+[条條]")
_ACCENTED = re.compile(r"[^\x00-\x7f]")
_FEWEST_ARTICLES = 5


def read_html(content: bytes, language: str) -> Reading:
    """Read a web page; raises BadInput if it has no text, like a challenge or an error page."""
    if is_eu_xhtml(content):
        return read_eu_xhtml(content, language)
    text = decoded(content)
    try:
        tree = html.document_fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))
    except etree.ParserError as error:
        raise BadInput("The page is empty. Fetch it again.") from error
    passages = list(_outline(tree)) if _has_outline(tree) else _main_text(text)
    if not any(not passage.heading for passage in passages):
        raise BadInput(
            "The page holds no text: a challenge or an error page, perhaps. Open it in a browser and save "
            "it from there."
        )
    return reading_of(passages)


def decoded(content: bytes) -> str:
    """Decode text as UTF-8, as Windows-1252 if it looks Western, or in the most likely encoding."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        western = content.decode("cp1252", errors="replace")
    # A few accents don't tell single-byte encodings apart, but Cyrillic or Greek would look accented throughout.
    if len(_ACCENTED.findall(western)) <= 0.2 * len(western) and "\ufffd" not in western:
        return western
    best = from_bytes(content).best()
    if best is None:
        raise BadInput("The file is no text in any known encoding. Save it as UTF-8.")
    return str(best)


def _has_outline(tree: html.HtmlElement) -> bool:
    """Tell whether headings number the text article by article; a search for the main text would lose them."""
    numbered = [node for node in tree.iter(*_HEADINGS) if _NUMBERED.fullmatch(tidy(node.text_content()))]
    return len(numbered) >= _FEWEST_ARTICLES


def _outline(node: html.HtmlElement, mark: str = "") -> Iterator[Passage]:
    for position, child in enumerate((child for child in node if isinstance(child.tag, str)), start=1):
        if child.tag in _SKIPPED:
            continue
        if child.tag == "li" and node.tag == "ol":
            mark = f"{position}. "
        if child.tag in _BLOCKS and not any(True for _ in child.iterdescendants(*_BLOCKS)):
            text = tidy(child.text_content())
            yield Passage(text and f"{mark}{text}", heading=child.tag in _HEADINGS)
            mark = ""
        else:
            yield from _outline(child, mark)
            mark = ""


def _main_text(text: str) -> list[Passage]:
    extracted = trafilatura.extract(
        text, output_format="xml", include_comments=False, include_tables=True, favor_recall=True
    )
    if not extracted:
        return []
    root = etree.fromstring(extracted.encode())
    nodes = root.iter("head", "p", "item", "cell", "quote")
    leaves = (node for node in nodes if node.find("p") is None and node.find("item") is None)
    return [Passage(tidy("".join(node.itertext())), heading=node.tag == "head") for node in leaves]
