"""Look up statements: read the source texts in all their formats, and find the text at a locator."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

_SAME = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "–": "-", "—": "-", "\u00ad": None})
_BLOCKS = {"p", "div", "td", "tr", "table", "article", "section", "header", "br", "h1", "h2", "h3", "h4", "li"}
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50}
_ROMANS = [
    tens + ones
    for tens in ("", "x", "xx", "xxx", "xl", "l")
    for ones in ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
    if tens + ones
]


@lru_cache(maxsize=4096)
def normalise(text: str) -> str:
    """Return a text in lower case, with whitespace collapsed, and quotes and dashes unified."""
    return re.sub(r"\s+", " ", text.translate(_SAME)).strip().casefold()


def numbers(text: str) -> set[str]:
    """Return the numbers in a text, without thousands separators; codes such as c10 don't count."""
    numerals = re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])", text)
    return {number.rstrip(",").replace(",", "") for number in numerals}


def roman(number: str) -> int:
    """Return the value of a lower-case Roman numeral."""
    values = [_ROMAN[letter] for letter in number]
    return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))


@dataclass(frozen=True)
class Document:
    """One source text: `sections` maps a label such as `article7` to its lines."""

    whole: str
    sections: dict[str, str]
    facts: dict[str, str]
    rows: tuple[dict[str, str], ...] = ()

    def at(self, locator: str, slug: str = "") -> str | None:
        """Return the text at a locator; None if the document has no such place."""
        if locator.startswith("Table:"):
            return self._table(locator.removeprefix("Table:"))
        if locator == "Page text":
            return self.sections.get(f"page{slug}", None if self.sections else self.whole)
        label = locator.replace(" ", "").casefold()
        if label in self.sections:
            return self.sections[label]
        base, *inner = re.split(r"(?=\()", label)
        text = next((self.sections[name] for name in (base, *_renumbered(base)) if name in self.sections), None)
        for marker in inner:
            text = None if text is None else _inside(text, marker.strip("()"))
        return text

    def _table(self, row: str) -> str | None:
        """Return label, answer and figure of the rows that have a cell for every comma-separated part of `row`."""
        conditions = [[normalise(cell) for cell in re.split(r" and |/", part)] for part in row.split(",")]
        hits = [cells for cells in self.rows if all(_has_cell(cells, alternatives) for alternatives in conditions)]
        parts = [part for alternatives in conditions for part in alternatives]
        if not all(any(_has_cell(cells, [part]) for cells in hits) for part in parts):
            return None
        return "\n".join(" | ".join(v for k, v in c.items() if k not in ("question_code", "notes")) for c in hits)


def _renumbered(label: str) -> Iterator[str]:
    """Yield a label with its Roman numeral in digits, or its digits as a Roman numeral: files differ in this."""
    hit = re.fullmatch(r"(article|part)(\d+|[ivxl]+)", label)
    if hit and hit[2].isdigit():
        yield from (f"{hit[1]}{numeral}" for numeral in _ROMANS if roman(numeral) == int(hit[2]))
    elif hit:
        yield f"{hit[1]}{roman(hit[2])}"


def _has_cell(cells: dict[str, str], alternatives: list[str]) -> bool:
    values = [normalise(cell) for cell in cells.values()]
    return any(a in values or (len(a.split()) > 1 and any(v.startswith(a) for v in values)) for a in alternatives)


def _inside(text: str, marker: str) -> str | None:
    """Return the part of an article that starts at `marker`, after the article's introductory words.

    A text whose paragraphs have no numbers is returned whole, as some files have lost them.
    """
    first = _sign(text, "1" if marker.isdigit() else "a")
    start = _sign(text, marker)
    if start is None:
        return text if first is None else None
    end = _sign(text[start:], str(int(marker) + 1) if marker.isdigit() else chr(ord(marker) + 1))
    return text[: start if first is None else first] + text[start : None if end is None else start + end]


def _sign(text: str, marker: str) -> int | None:
    hit = re.search(rf"^[\s*_-]*(?:\({marker}\)|{marker}[.)])(?=\s|\w|$)", text, re.MULTILINE | re.IGNORECASE)
    return hit.start() if hit else None


def _cut(lines: str, opener: str, label: Callable[[re.Match[str]], str | None]) -> Iterator[tuple[str, str]]:
    """Yield label and text of the sections that lines matching `opener` start, leaving out those labelled None."""
    hits = list(re.finditer(opener, lines, re.MULTILINE))
    ends = [hit.start() for hit in hits[1:]] + [len(lines)]
    for hit, end in zip(hits, ends, strict=False):
        if (name := label(hit)) is not None:
            yield name, lines[hit.end() : end]


def _markdown(path: Path) -> Document:
    text = path.read_text(encoding="utf-8")
    if "\n## https://" in text:
        return Document(text, dict(_cut(text, r"^## \S+/([^/\s]+).*$", lambda hit: f"page{hit[1].casefold()}")), {})
    sections = {"preamble": re.split(r"^###(?!#)", text, maxsplit=1, flags=re.MULTILINE)[0]}
    opener = (
        r"^#{3,4} *(?:Articles? +(\w+)(?:, paragraph (\d+))?|(FINAL ACT|Appendix to|ANNEX|SCHEDULE)"
        r"|PART\b|CHAPTER\b|SECTION\b|([IVX]+)$|\d+$).*$"
    )
    for label, body in _cut(text, opener, _MarkdownLabels()):
        sections.setdefault(label, body)
    return Document(text, sections if len(sections) > 1 else {}, {})


class _MarkdownLabels:
    """A labeller of headings that remembers which annexed text it is in."""

    def __init__(self) -> None:
        self._place = ""

    def __call__(self, hit: re.Match[str]) -> str | None:
        article, paragraph, annexed, part = hit.groups()
        if annexed:
            self._place = f"{annexed.removesuffix(' to').replace(' ', '').casefold()},"
            return f"{self._place}parti"
        if article:
            return f"{self._place}article{article.casefold()}" + (f"({paragraph})" if paragraph else "")
        return f"{self._place}part{part.casefold()}" if part and self._place else None


def _treaty(path: Path) -> Document:
    data = json.loads(path.read_text(encoding="utf-8"))
    sections = {"preamble": data["preamble_en"]}
    for number, article in enumerate(data["articles"], start=1):
        body = f"{article['title_en']}\n{article['content_en']}".split("IN FAITH WHEREOF")[0]
        sections[f"article{number}"] = body
    return Document("\n".join(sections.values()), sections, {"title": data["treaty_en"]})


def _resolution(path: Path) -> Document:
    data = json.loads(path.read_text(encoding="utf-8"))
    text = "\n".join(_page(page) for page in data["text"].split("\n\n"))
    adopted = re.search(r"adopted by the General Assembly\s+on \d+ \w+ (\d{4})", text)
    body = text[text.index("The General Assembly,") :]
    sections: dict[str, str] = {}
    label = "preamble"
    number = 1
    while hit := re.search(rf"^\s*{number}\.\s+(?=[A-Z])", body, re.MULTILINE):
        sections[label] = body[: hit.start()]
        body, label, number = body[hit.end() :], f"paragraph{number}", number + 1
    sections[label] = body
    title = re.sub(r"^\d+/\d+\.\s*", "", data["title"])
    return Document(text, sections, {"symbol": data["symbol"], "title": title, "year": adopted[1] if adopted else ""})


def _page(page: str) -> str:
    """Return a page without its running head and its footnotes."""
    head = r"\A[\s\S]{0,600}?\n(?:\d+/\d+\s*\n\s*\d\d-\d{5}|\d\d-\d{5}\s*\n\s*\d+/\d+)\s*\n"
    return re.sub(r"\n_{8,}[\s\S]*\Z", "", re.sub(head, "", page))


class _Lines(HTMLParser):
    """A parser that turns HTML into lines, one per block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._skip = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skip += tag in ("script", "style")
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._skip -= tag in ("script", "style")
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._skip:
            self.parts.append(re.sub(r"\s+", " ", data))


def _html(path: Path) -> Document:
    parser = _Lines()
    parser.feed(path.read_text(encoding="utf-8"))
    lines = re.sub(r" *\n[\s\n]*", "\n", "".join(parser.parts))
    sections: dict[str, str] = {}
    first = re.search(r"^Article 1\s*$", lines, re.MULTILINE)
    head, body = (lines[: first.start()], lines[first.start() :]) if first else (lines, "")
    sections["preamble"] = head
    for label, recital in _recitals(head):
        sections[label] = recital
    for label, article in _cut(body, r"^Article (\d+)\s*$", lambda m: f"article{m[1]}"):
        sections.setdefault(label, re.split(r"^Done at|^ANNEX", article, maxsplit=1, flags=re.MULTILINE)[0])
    celex = re.fullmatch(r"0?(\d{5}[A-Z]\w*?)(?:-\d+)?(?:\..*)?", path.name)
    return Document(lines, sections, {"celex": celex[1].replace("_", "/") if celex else ""})


def _recitals(head: str) -> Iterator[tuple[str, str]]:
    body = head.partition("Whereas:")[2]
    number = 1
    while hit := re.search(rf"^\({number}\)\s*$", body, re.MULTILINE):
        body = body[hit.end() :]
        following = re.search(rf"^\({number + 1}\)\s*$|^HAVE ADOPTED", body, re.MULTILINE)
        yield f"recital{number}", body[: following.start()] if following else body
        number += 1


def _csv(path: Path) -> Document:
    text = path.read_text(encoding="utf-8-sig")
    return Document(text, {}, {}, tuple(csv.DictReader(StringIO(text))))


def _xlsx(path: Path) -> Document:
    """Read a workbook's cells with the standard library: shared strings and every sheet."""
    with zipfile.ZipFile(path) as book:
        strings = ["".join(item.itertext()) for item in ElementTree.fromstring(book.read("xl/sharedStrings.xml"))]
        sheets = [name for name in book.namelist() if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name)]
        rows = [row for name in sheets for row in _sheet(ElementTree.fromstring(book.read(name)), strings)]
    return Document("\n".join(strings), {}, {}, tuple(rows))


def _sheet(sheet: ElementTree.Element, strings: list[str]) -> Iterator[dict[str, str]]:
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    names: dict[str, str] = {}
    for row in sheet.iter(f"{space}row"):
        cells = {}
        for cell in row:
            value = cell.findtext(f"{space}v") or ""
            text = strings[int(value)] if cell.get("t") == "s" else value.removesuffix(".0")
            cells[(cell.get("r") or "").rstrip("0123456789")] = text
        if names:
            yield {name: cells.get(column, "") for column, name in names.items()}
        else:
            names = cells


def read(path: Path) -> Document:
    """Return one source text; its folder and file type decide how it is read."""
    if path.suffix == ".json":
        return _resolution(path) if "un_docs" in path.parts else _treaty(path)
    readers: dict[str, Callable[[Path], Document]] = {
        ".md": _markdown,
        ".csv": _csv,
        ".xlsx": _xlsx,
        ".html": _html,
        ".xhtml": _html,
    }
    return readers[path.suffix](path)
