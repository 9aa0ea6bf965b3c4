"""Measure the evidence search: hit rates, an ablation, and speed at a million paragraphs and more."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evaluation.bench import kb_quality, kb_scale

ROWS = (
    ("index", "index", "{}"), ("build time, without embedding", "build_s", "{:.0f} s"),
    ("memory while building, peak", "build_gb", "{:.1f} GB"), ("files", "files_gb", "{:.2f} GB"),
    ("12 updates of 1,000 put, 500 removed: slowest", "update_s", "{:.1f} s"),
    ("opening, with checksums", "open_s", "{:.1f} s"),
    ("search, median", "p50_ms", "{:.1f} ms"), ("search, p95", "p95_ms", "{:.1f} ms"),
    ("search, p99", "p99_ms", "{:.1f} ms"),
    ("searches a second while an update is swapped in", "swap_rate", "{:.0f}"),
    ("p95 of those", "swap_p95_ms", "{:.1f} ms"), ("recall@3 against exact search", "recall_all", "{:.3f}"),
    ("the same with a group filter", "recall_grouped", "{:.3f}"),
    ("memory while searching, own", "search_anon_gb", "{:.2f} GB"),
    ("the same with mapped file pages", "search_rss_gb", "{:.2f} GB"),
)  # fmt: skip


def run(scales: Sequence[int], quality: kb_quality.Models | None, folder: Path | None) -> None:
    """Print the tables, with date and machine: hit rates where `quality` is given, then a column for each scale.

    Synthetic knowledge bases are built in `folder` and kept there, or in a temporary one.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{datetime.now(UTC):%Y-%m-%d}, {cores} cores, {platform.machine()}, Python {platform.python_version()}\n")
    if quality:
        kb_quality.run(quality)
    with tempfile.TemporaryDirectory(prefix="rejoinder-bench-") as scratch:
        results = [kb_scale.run(count, folder or Path(scratch)) for count in scales]
    if results:
        print(_table(results))


def _table(results: Sequence[dict[str, Any]]) -> str:
    head = "| scale | " + " | ".join(f"{result['paragraphs']:,} paragraphs" for result in results) + " |\n|---|"
    lines = [
        f"| {name} | " + " | ".join(form.format(result[key]) for result in results) + " |" for name, key, form in ROWS
    ]
    return "\n".join([head + "--:|" * len(results), *lines])
