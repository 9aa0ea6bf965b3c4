"""Read law as the EU publishes it: XHTML from CELLAR (Official Journal and consolidated) and Formex 4 XML.

The PyPI parser `eurlex` finds the same articles in Official Journal XHTML, but no recitals, nothing in consolidated
texts and no Formex, and needs pandas, rdflib and an lxml older than 6.1. Therefore this module walks the tree itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree, html

from core.errors import BadInput
from kb.extract.passages import Passage, Reading, reading_of, tidy

_MARKS = re.compile(rb"class=\"(?:oj-)?(?:ti-art|title-article-norm)\"")
_FORMEX = re.compile(rb"<(?:ACT|CONS\.ACT|ANNEX|CONS\.ANNEX|CORR|PUBLIC|GENERAL)[\s>]")
_LABEL = re.compile(r"(?:\(?(?:\d{1,3}|[a-z]{1,5}|[A-Z])[).]|[—–•-])")
_RECITAL = re.compile(r"\((\d{1,3})\)")
_DIVISION = re.compile(r"PREAMBLE|(?:PART|TITLE|CHAPTER|SECTION)\s+[IVXL\d]+", re.IGNORECASE)
_ARTICLE = re.compile(r"Article\s+(\d+[a-z]*|[IVXL]+)", re.IGNORECASE)

_TITLES = ("ti-art", "title-article-norm")
_ANNEXES = ("ti-grseq", "title-annex", "title-gr-seq")
_DROPPED = (
    "hd-",
    "doc-",
    "note",
    "footnote",
    "signatory",
    "final",
    "disclaimer",
    "reference",
    "arrow",
    "toc",
    "tbl",
    "table",
    "sti-art",
    "stitle",
    "ti-section",
    "title-",
    "no-doc",
    "super",
    "modref",
    "eli-main-title",
)
_TEXTS = ("normal", "norm", "list", "no-parag")
_FORMEX_DROPPED = {
    "BIB.INSTANCE",
    "BIB.DATA",
    "INFO.CONSLEG",
    "INFO.PROD",
    "FAM.COMP",
    "TITLE",
    "TI.ART",
    "STI.ART",
    "FINAL",
    "SIGNATURE",
    "TOC",
    "TBL",
    "PREAMBLE.INIT",
    "GR.CONSID.INIT",
    "GR.VISA",
}
_FORMEX_TEXTS = {"P", "TXT", "ALINEA", "NO.P", "NO.PARAG"}
_QUOTES = {"QUOT.START", "QUOT.END"}


@dataclass
class _Place:
    """The current place of the walk through an act."""

    name: str = "Preamble"
    label: str = ""
    over: bool = False

    def passage(self, text: str) -> Passage | None:
        """Return the text as a passage at this place, after its list mark; None if it is only a mark."""
        if _DIVISION.fullmatch(text):
            return None
        if _LABEL.fullmatch(text):
            hit = _RECITAL.fullmatch(text)
            if hit and self.name.startswith(("Preamble", "Recital")):
                self.name = f"Recital {hit[1]}"
            else:
                self.label = f"{self.label} {text}".strip()
            return None
        whole, self.label = f"{self.label} {text}".strip(), ""
        return Passage(whole, place=self.name)


def is_eu_xhtml(content: bytes) -> bool:
    """Tell whether a page is an act in the EU's own XHTML."""
    return bool(_MARKS.search(content))


def is_formex(content: bytes) -> bool:
    """Tell whether an XML file is Formex."""
    return bool(_FORMEX.search(content[:2000]))


def read_eu_xhtml(content: bytes, _language: str) -> Reading:
    """Read an act's XHTML: recitals, articles and annexes; footnotes, tables and signatures are left out."""
    tree = html.document_fromstring(content, parser=html.HTMLParser(encoding="utf-8"))
    return reading_of(list(_xhtml(tree, _Place())))


def read_formex(content: bytes, _language: str) -> Reading:
    """Read an act in Formex 4; raises BadInput if the XML is damaged."""
    try:
        root = etree.fromstring(content, parser=etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError as error:
        raise BadInput(f"The Formex file is torn: {error}. Fetch it again.") from error
    etree.strip_elements(root, "NOTE", with_tail=False)
    return reading_of(list(_formex(root, _Place())))


def _xhtml(node: etree._Element, place: _Place) -> Iterator[Passage]:
    for child in node:
        if not isinstance(child.tag, str):
            continue
        name = _class(child)
        if name.startswith(_TITLES):
            _enter(place, tidy(child.text_content()))
        elif name.startswith(_ANNEXES):
            _enter_annex(place, tidy(child.text_content()))
        elif child.tag == "hr" and name.startswith("doc-"):
            place.over = name == "doc-end"
        elif name.startswith(_DROPPED) or place.over or child.tag in ("head", "script", "style"):
            continue
        elif _is_leaf(child, name):
            passage = place.passage(_text(child))
            if passage:
                yield passage
        else:
            yield from _xhtml(child, place)


def _enter(place: _Place, title: str) -> None:
    if hit := _ARTICLE.match(title):
        annex = place.name.partition(",")[0] if place.name.startswith("Annex") else ""
        place.name = f"{annex}, Article {hit[1]}" if annex else f"Article {hit[1]}"
    place.label = ""


def _enter_annex(place: _Place, title: str) -> None:
    hit = re.match(r"ANNEX(?:\s+([IVXL]+|\d+|[A-Z]))?\b", title, re.IGNORECASE)
    if hit:
        place.name, place.label = f"Annex {hit[1]}" if hit[1] else "Annex", ""
    elif not re.search(r"\w", title):
        place.over = True


def _is_leaf(node: etree._Element, name: str) -> bool:
    if not name.startswith(_TEXTS):
        return node.tag == "p" and not name
    inner = (_class(child) for child in node.iterdescendants("p", "div", "table"))
    return not any(name.startswith(("norm", "list", "grid")) for name in inner)


def _text(node: etree._Element) -> str:
    """Return a leaf's text without footnote marks."""
    parts = [node.text or ""]
    for child in node:
        marks = isinstance(child.tag, str) and (child.get("href", "").startswith("#nt") or "note" in _class(child))
        parts.append("" if marks or not isinstance(child.tag, str) else _text(child))
        parts.append(child.tail or "")
    return tidy("".join(parts)).replace(" ,", ",").replace(" ;", ";")


def _class(node: etree._Element) -> str:
    return (node.get("class") or "").removeprefix("oj-")


def _formex(node: etree._Element, place: _Place) -> Iterator[Passage]:
    for child in node:
        if not isinstance(child.tag, str) or child.tag in _FORMEX_DROPPED:
            continue
        if child.tag == "ARTICLE" and not _quoted(child):
            _enter(place, _title(child, "TI.ART"))
        elif child.tag in ("ANNEX", "CONS.ANNEX"):
            _enter_annex(place, _title(child, "TITLE") or "ANNEX")
        if child.tag in _FORMEX_TEXTS and not any(inner.tag in _FORMEX_TEXTS for inner in child.iterdescendants()):
            passage = place.passage(_formex_text(child))
            if passage:
                yield passage
        else:
            yield from _formex(child, place)


def _title(node: etree._Element, tag: str) -> str:
    title = node.find(tag)
    return "" if title is None else tidy("".join(title.itertext()))


def _quoted(node: etree._Element) -> bool:
    return any(above.tag in ("QUOT.S", "ARTICLE") for above in node.iterancestors())


def _formex_text(node: etree._Element) -> str:
    parts = [node.text or ""]
    for child in node:
        if child.tag in _QUOTES:
            parts.append(chr(int(child.get("CODE", "2018"), 16)))
        elif isinstance(child.tag, str):
            parts.append(_formex_text(child))
        parts.append(child.tail or "")
    return tidy("".join(parts))
