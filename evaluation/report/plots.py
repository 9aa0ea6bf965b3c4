"""The plots of a report, as SVG whose bytes are the same each time."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas

from evaluation.report.data import DIMENSIONS, ScoredRun
from evaluation.report.document import Figure, Section
from evaluation.significance import interval

DRAWN = ("coarl", "safety", "argument_quality", "counterspeech", "chrf")
COLOURS = ("#2f6690", "#d08c2e", "#3a7d44", "#8e5572", "#6b6b6b", "#b5483a", "#4d9f9a", "#9b8bd0")
_STYLE: Any = {"svg.hashsalt": "rejoinder", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9}


def plots(scored: ScoredRun) -> Section:
    """Return a section with a plot by system, and one for each dimension that has more than one value."""
    drawn = [name for name in DRAWN if name in scored.columns]
    figures = [_draw(scored, drawn, "system", scored.names)]
    for dimension in DIMENSIONS:
        values = sorted(set(scored.dimensions[dimension].tolist()))
        if len(values) > 1:
            figures.append(_draw(scored, drawn, dimension, values))
    text = (
        "Bars are means of single drafts, lines their 95 % bootstrap intervals. Bars without a line rest on one draft, "
        "or on drafts that all have the same value.",
    )
    return Section("Drawings", text, figures=tuple(figures))


def _draw(scored: ScoredRun, metrics: Sequence[str], dimension: str, values: Sequence[str]) -> Figure:
    series = [""] if dimension == "system" else list(scored.names)
    with rc_context(_STYLE):
        height = 0.9 + 0.2 * len(values) * max(1, len(series)) + 0.25 * len(series)
        canvas = Canvas(figsize=(11, height), layout="constrained")
        panels = canvas.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
        for panel, metric in zip(panels, metrics, strict=True):
            for place, name in enumerate(series):
                _bars(panel, scored, metric, dimension, values, name, place, len(series))
            panel.set_title(scored.totals["metrics"][metric]["label"], fontsize=9)
            panel.set_xlim(0, 1)
            panel.set_xticks([0, 0.5, 1])
            panel.spines[["top", "right"]].set_visible(False)
        panels[0].set_yticks(range(len(values)), values)
        panels[0].invert_yaxis()
        if dimension != "system":
            handles, labels = panels[0].get_legend_handles_labels()
            canvas.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        return Figure(_svg(canvas), f"Means by {dimension}, from scores.jsonl.")


def _bars(
    panel: object, scored: ScoredRun, metric: str, dimension: str, values: Sequence[str], system: str, place: int,
    count: int,
) -> None:  # fmt: skip
    """Draw one system's bars over a dimension's values; for the dimension `system`, draw one bar per system."""
    width = 0.8 / count
    heights: list[float] = []
    spreads: list[tuple[float, float]] = []
    for value in values:
        if dimension == "system":
            column = scored.values(metric, value)
        else:
            column = scored.values(metric, system, **{dimension: value})
        spread = interval(column, scored.seed) if len(column) else None
        heights.append(spread.mean if spread else 0.0)
        spreads.append((spread.mean - spread.low, spread.high - spread.mean) if spread else (0.0, 0.0))
    positions = [row + (place - (count - 1) / 2) * width for row in range(len(values))]
    panel.barh(  # type: ignore[attr-defined]
        positions, heights, width, label=system, color=COLOURS[place % len(COLOURS)],
        xerr=[[max(0.0, low) for low, _ in spreads], [max(0.0, high) for _, high in spreads]],
        error_kw={"linewidth": 0.8, "ecolor": "#222222"},
    )  # fmt: skip


def _svg(canvas: Canvas) -> str:
    """Return a plot as SVG to embed in HTML, without date, program name and XML declaration."""
    buffer = io.StringIO()
    canvas.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return re.sub(r"[ \t]+\n", "\n", text[text.index("<svg") :])
