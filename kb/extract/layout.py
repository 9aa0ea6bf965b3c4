"""Join the lines of pages into passages: find where paragraphs begin, and join them across lines and pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median

from kb.extract.lines import TIGHT, Line, Page
from kb.extract.passages import Passage, tidy

_OPENER = re.compile(r"(?:\d{1,3}\.|\([a-z]{1,4}\)|[•▪●–—])\s+\S|(?:Article|Artikel|Artículo|Articolo)\s+\d+\b")
_SEPARATE = re.compile(r"[.!?;:]['\"”’)\]]*$")
_HYPHENATED = re.compile(r"(\w+)[-\u2010\u00ad]$")
_WORD = re.compile(r"\w+(?:[-\u2010\u2011]\w+)*")
_LOOSE = re.compile(rf"(\w*){TIGHT}(\w*)")


def passages_of(pages: Sequence[Page]) -> Iterator[Passage]:
    """Join the lines of a document's pages into passages, each with the number of the page it begins on."""
    words = _vocabulary(pages)
    pending: tuple[list[Line], int] | None = None
    for page in pages:
        for lines in _paragraphs(page.lines):
            if pending and pending[1] != page.number and _continues(pending[0], lines):
                pending[0].extend(lines)
            else:
                if pending:
                    yield _passage(*pending, words)
                pending = (list(lines), page.number)
    if pending:
        yield _passage(*pending, words)


def _paragraphs(lines: Sequence[Line]) -> list[list[Line]]:
    """Split a page's lines where spacing, indent, size or a list mark begins a new paragraph."""
    if not lines:
        return []
    steps = [above.top - below.top for above, below in pairwise(lines) if 0 < above.top - below.top < 40]
    step = median(steps) if steps else 12.0
    left = Counter(round(line.left) for line in lines).most_common(1)[0][0]
    paragraphs = [[lines[0]]]
    for above, below in pairwise(lines):
        if _starts_paragraph(above, below, step, left):
            paragraphs.append([below])
        else:
            paragraphs[-1].append(below)
    return paragraphs


def _starts_paragraph(above: Line, below: Line, step: float, left: float) -> bool:
    drop = above.top - below.top
    apart = drop > 1.3 * step or drop < -2 * step
    indented = below.left > left + 8 and below.left > above.left + 8
    resized = min(above.size, below.size) > 0 and abs(above.size - below.size) > 0.15 * above.size
    return apart or resized or bool(_OPENER.match(below.text)) or (indented and bool(_SEPARATE.search(above.text)))


def _continues(before: Sequence[Line], after: Sequence[Line]) -> bool:
    """Tell whether a page's first paragraph continues the last one of the page before."""
    end, start = before[-1].text.rstrip(), after[0].text
    if _OPENER.match(start) or _SEPARATE.search(end):
        return False
    if start[:1].islower():
        return True
    return not _is_heading(before) and (not end.endswith(",") or after[0].left <= before[-1].left + 2)


def _passage(lines: Sequence[Line], page: int, words: Counter[str]) -> Passage:
    return Passage(tidy(_join_lines([line.text for line in lines], words)), page=page, heading=_is_heading(lines))


def _is_heading(lines: Sequence[Line]) -> bool:
    text = " ".join(line.text for line in lines)
    return (
        len(lines) <= 4
        and len(text.split()) <= 25
        and not re.search(r"[.,;:!?]['\"”’)]*$", text.strip())
        and not text[:1].islower()
        and not _OPENER.match(text)
    )


def _join_lines(lines: Iterable[str], words: Counter[str]) -> str:
    """Join lines; keep a hyphen at a line's end if the rest of the document writes the word with it."""
    text = ""
    for line in lines:
        broken = _HYPHENATED.search(text)
        if broken and (rest := re.match(r"\w+", line)):
            text = text[: broken.start()] + _join_hyphenated(broken[1], rest[0], words) + line[rest.end() :]
        else:
            text = f"{text} {line}" if text else line
    return _LOOSE.sub(lambda hit: _close_gap(hit[1], hit[2], words), text)


def _join_hyphenated(start: str, end: str, words: Counter[str]) -> str:
    whole, split = f"{start}{end}", f"{start}-{end}"
    if end[0].isupper() or end[0].isdigit() or start[-1].isdigit():
        return split
    if words[split.casefold()] != words[whole.casefold()]:
        return max(whole, split, key=lambda word: words[word.casefold()])
    # Where both halves are words of this document (`right` + `wing`), a compound is likelier than a broken word.
    return split if words[start.casefold()] and words[end.casefold()] else whole


def _close_gap(start: str, end: str, words: Counter[str]) -> str:
    whole = f"{start}{end}"
    if not end or (start and words[whole.casefold()] > min(words[start.casefold()], words[end.casefold()])):
        return whole
    return f"{start} {end}"


def _vocabulary(pages: Sequence[Page]) -> Counter[str]:
    """Count the words that are not cut by a line end or a doubtful space."""
    words = Counter[str]()
    for page in pages:
        for line in page.lines:
            whole = _HYPHENATED.sub("", line.text)
            words.update(word.replace("\u2011", "-").casefold() for word in _WORD.findall(whole))
    return words
