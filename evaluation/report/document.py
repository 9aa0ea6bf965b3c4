"""The parts of a report, independent of the format it is rendered in."""

from __future__ import annotations

from dataclasses import dataclass

Cell = str


@dataclass(frozen=True)
class Table:
    """Rows of cells under a header; a row's first cell is its name. `source` is the file that holds the figures."""

    header: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    source: str


@dataclass(frozen=True)
class Figure:
    """A plot as SVG, with a caption."""

    svg: str
    caption: str


@dataclass(frozen=True)
class Case:
    """One draft to read, with its post, which stays hidden until the reader opens it."""

    title: str
    post: str
    draft: str
    remark: str


@dataclass(frozen=True)
class Section:
    """One heading with its content, rendered in the order of the fields."""

    title: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    cases: tuple[Case, ...] = ()


def number(value: float | None, digits: int = 3) -> Cell:
    """Return a number as a cell; a dash for None."""
    return "–" if value is None else f"{value:.{digits}f}"
