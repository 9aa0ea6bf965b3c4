"""Drop everything on a page but its text: running heads, footers, page numbers, footnotes, tables of contents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kb.extract.lines import Line, Page

MARGIN = 0.12
"""Share of a page's height, at the top and at the bottom, that holds running heads and footers."""
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|página|pagina)?\s*[-–]?\s*(?:\d{1,4}|[ivxl]{1,6})(?:\s*(?:/|of|de|di|von)\s*\d{1,4})?\s*[-–]?",
    re.IGNORECASE,
)
_UN_FOOTER = re.compile(r"(?:\d+/\d+\s+)?\d\d-\d{5}(?:\s*\(E\))?(?:\s+\d+/\d+)?|\*\d{7}\*|[A-Z]+(?:/[\w.()-]+){2,6}")
_RULE = re.compile(r"_{5,}|-{10,}")
_NOTE = re.compile(r"(?:\d{1,3}|[*†‡])\s*\S")
_LEADER = re.compile(r"(?:\.\s?){4,}\s*\d{0,4}$|…+\s*\d{0,4}$")
_ENDS_IN_PAGE = re.compile(r"\D\s\d{1,4}$")
_CONTENTS = re.compile(
    r"(?:table of )?contents|inhalt(?:sverzeichnis)?|table des matières|sommaire|índice|indice|sommario", re.IGNORECASE
)


def drop_page_artifacts(pages: Sequence[Page]) -> list[Page]:
    """Return the pages reduced to their text."""
    heads = _running_heads(pages)
    first = _key(" ".join(line.text for line in pages[0].lines)) if pages else ""
    kept = [replace(page, lines=tuple(_body(page, heads, first if page.number > 1 else ""))) for page in pages]
    size = _body_size(kept)
    return [replace(page, lines=tuple(_without_contents(_without_notes(page.lines, size)))) for page in kept]


def _body(page: Page, heads: set[str], first: str) -> Iterable[Line]:
    for line in page.lines:
        if _UN_FOOTER.fullmatch(line.text.strip()):
            continue
        if _in_margin(page, line) and _is_running_head(line.text, heads, first):
            continue
        yield line


def _is_running_head(text: str, heads: set[str], first: str) -> bool:
    key = _key(text)
    if _PAGE_NUMBER.fullmatch(text.strip()) or key in heads:
        return True
    # A short document may have too few pages to count running heads; then the head repeats the first page's title.
    return len(key) > 12 and key in first


def _running_heads(pages: Sequence[Page]) -> set[str]:
    """Return the margin lines that occur on several pages, numbers aside; even and odd pages may differ."""
    counts = Counter(
        key for page in pages for key in {_key(line.text) for line in page.lines if _in_margin(page, line)}
    )
    enough = max(2, round(0.2 * len(pages)))
    return {key for key, times in counts.items() if times >= enough and key}


def _in_margin(page: Page, line: Line) -> bool:
    return page.height > 0 and (line.bottom > page.height * (1 - MARGIN) or line.top < page.height * MARGIN)


def _key(text: str) -> str:
    return re.sub(r"[\W\d_]+", "", text).casefold()


def _body_size(pages: Iterable[Page]) -> float:
    sizes = Counter[float]()
    for page in pages:
        for line in page.lines:
            sizes[round(line.size, 1)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _without_notes(lines: Sequence[Line], size: float) -> Sequence[Line]:
    """Cut off footnotes: the lines after a short rule, or the small lines at the bottom from a note number on."""
    for index, line in enumerate(lines):
        if _RULE.fullmatch(line.text.strip()):
            return lines[:index]
    start = len(lines)
    while start and 0 < lines[start - 1].size < 0.92 * size:
        start -= 1
    while start < len(lines) and not _NOTE.match(lines[start].text):
        start += 1
    return lines[:start]


def _without_contents(lines: Sequence[Line]) -> Sequence[Line]:
    """Drop lines with leaders, and every line of a page that is headed as a table of contents and looks like one."""
    listed = [line for line in lines if _LEADER.search(line.text) or _ENDS_IN_PAGE.search(line.text)]
    headed = any(_CONTENTS.fullmatch(line.text.strip()) for line in lines[:4])
    if headed and len(listed) >= 0.4 * len(lines):
        return ()
    if sum(bool(_LEADER.search(line.text)) for line in lines) >= 0.6 * len(lines):
        return ()
    return [line for line in lines if not _LEADER.search(line.text)]
