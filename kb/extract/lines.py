"""Assemble a page's characters into lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

TIGHT = "\u2009"
"""A space that PDFium inferred from a small gap: it may be inside a word (`an d`)."""
_TIGHT_EM = 0.2
_MARKS = set("0123456789*†‡")


@dataclass(frozen=True)
class Glyph:
    """One character with its box in points, y growing upwards; `generated` if it is not in the file."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    size: float
    generated: bool = False


@dataclass(frozen=True)
class Line:
    """One line of text with its box in points; `size` is the font's, 0 if unknown."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    size: float


@dataclass(frozen=True)
class Page:
    """The lines of one page; `number` counts from 1."""

    number: int
    height: float
    lines: tuple[Line, ...]
    scanned: bool = False


@dataclass
class _Row:
    glyphs: list[Glyph] = field(default_factory=list)

    def add(self, glyph: Glyph) -> None:
        self.glyphs.append(glyph)

    def line(self) -> Line | None:
        inked = [glyph for glyph in self.glyphs if not glyph.generated and glyph.text.strip()]
        if not inked:
            return None
        size = median(glyph.size for glyph in inked)
        base = median(glyph.bottom for glyph in inked)
        kept = [glyph for glyph in self.glyphs if not _is_note_mark(glyph, size, base)]
        text = "".join(_spaced(kept)).strip()
        return (
            Line(
                text,
                min(glyph.left for glyph in inked),
                max(glyph.right for glyph in inked),
                min(glyph.bottom for glyph in inked),
                max(glyph.top for glyph in inked),
                size,
            )
            if text
            else None
        )


def glyph_lines(glyphs: Iterable[Glyph]) -> list[Line]:
    """Assemble characters into lines; superscript footnote marks are left out."""
    rows = [_Row()]
    for glyph in glyphs:
        if glyph.text in ("\r", "\n"):
            rows.append(_Row())
        elif glyph.text:
            rows[-1].add(glyph)
            if glyph.text == "\u00ad":
                rows.append(_Row())
    return _rejoin_fragments([line for row in rows if (line := row.line())])


def _is_note_mark(glyph: Glyph, size: float, base: float) -> bool:
    return glyph.text in _MARKS and 0 < glyph.size < 0.8 * size and glyph.bottom > base + 0.15 * size


def _spaced(glyphs: list[Glyph]) -> Iterable[str]:
    for before, glyph, after in zip([None, *glyphs], glyphs, [*glyphs[1:], None], strict=False):
        if glyph.generated and before and after and glyph.text == " ":
            yield TIGHT if after.left - before.right < _TIGHT_EM * after.size else " "
        else:
            yield glyph.text


def _rejoin_fragments(lines: list[Line]) -> list[Line]:
    """Join the fragments of a line, since PDFium breaks lines after a superscript."""
    joined: list[Line] = []
    for line in lines:
        last = joined[-1] if joined else None
        if last and set(line.text) <= _MARKS and 0 < line.size < 0.8 * last.size and line.bottom > last.bottom:
            continue
        if last and _stand_level(last, line) and -2 <= line.left - last.right < 2 * max(last.size, line.size):
            joined[-1] = Line(
                f"{last.text} {line.text}",
                last.left,
                line.right,
                min(last.bottom, line.bottom),
                max(last.top, line.top),
                max(last.size, line.size),
            )
        else:
            joined.append(line)
    return joined


def _stand_level(line: Line, other: Line) -> bool:
    overlap = min(line.top, other.top) - max(line.bottom, other.bottom)
    return overlap > 0.5 * min(line.top - line.bottom, other.top - other.bottom)
