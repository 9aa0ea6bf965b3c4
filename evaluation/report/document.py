"""What a report is made of, whatever it is rendered as."""

from __future__ import annotations

from dataclasses import dataclass

Cell = str


@dataclass(frozen=True)
class Table:
    """Rows of cells under a header; the first cell of a row names it. `source` is the file its figures stand in."""

    header: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    source: str


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG, and what it shows in words."""

    svg: str
    caption: str


@dataclass(frozen=True)
class Case:
    """One draft to read, with what it answers; `post` is covered until asked for."""

    title: str
    post: str
    draft: str
    remark: str


@dataclass(frozen=True)
class Section:
    """One heading with what stands under it, in this order."""

    title: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    cases: tuple[Case, ...] = ()


def number(value: float | None, digits: int = 3) -> Cell:
    """Return a figure as a cell; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"
