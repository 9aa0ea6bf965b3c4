"""Cells of tables that people open in spreadsheet programs."""

from __future__ import annotations

_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def without_formula(cell: str) -> str:
    """Return a cell that no spreadsheet program takes for a formula: what would begin one gets an apostrophe before it.

    Cells hold strangers' words, and a formula can send what else is in the table away.
    """
    return f"'{cell}" if cell.startswith(_BEGINS_FORMULA) else cell
