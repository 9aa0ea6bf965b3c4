"""Plot how reliable the hate head's probabilities are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure


def draw(bins: Sequence[tuple[float, float, int]], path: Path) -> None:
    """Write a PNG of mean probability against the share of hateful posts, a point for each of `bins`."""
    figure = Figure(figsize=(4.5, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="perfect")
    axes.plot([mean for mean, _, _ in bins], [share for _, share, _ in bins], marker="o", label="hate head")
    axes.set(xlabel="mean hate probability", ylabel="share hateful or offensive", xlim=(0, 1), ylim=(0, 1))
    axes.legend(loc="upper left")
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without the library's name and version in it, the same figures give the same file.
    figure.savefig(path, dpi=110, metadata={"Software": None})
