"""Measure the evidence search: `make bench-kb` prints hit rates, an ablation, and speed at 1 and 3 million paragraphs.

The million takes five minutes, three millions a quarter of an hour, and both 9 GB of disk; `--quick` leaves them out.
"""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from evaluation.bench import kb_quality, kb_scale

SCALES = (1_000_000, 3_000_000)
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


@click.command()
@click.option("--scale", multiple=True, type=int, default=SCALES, help="Paragraphs of a synthetic one; repeatable.")
@click.option("--quick", is_flag=True, help="Measure hit rates alone.")
@click.option("--quality/--no-quality", default=True, help="Measure hit rates.")
@click.option("--chat", help="Base URL of a chat model's server: measures what it adds. Takes long.")
@click.option("--sbert", help="Folder of a sentence-transformers model.")
@click.option("--bge", help="Folder of BGE-M3.")
@click.option("--bge-reranker", help="Folder of a BGE reranker.")
@click.option(
    "--built", type=click.Path(exists=True, path_type=Path), help="Folder of a knowledge base that `kb build` made."
)
@click.option("--folder", type=click.Path(path_type=Path), help="Where the synthetic ones are built; kept when given.")
def main(
    scale: tuple[int, ...], quick: bool, quality: bool, chat: str | None, sbert: str | None, bge: str | None,
    bge_reranker: str | None, built: Path | None, folder: Path | None,
) -> None:  # fmt: skip
    """Print the tables, with date and machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"{datetime.now(UTC):%Y-%m-%d}, {cores} cores, {platform.machine()}, Python {platform.python_version()}\n")
    if quality:
        kb_quality.run(kb_quality.Models(sbert, bge, bge_reranker, chat, built))
    with tempfile.TemporaryDirectory(prefix="rejoinder-bench-") as scratch:
        results = [kb_scale.run(count, folder or Path(scratch)) for count in (() if quick else scale)]
    if results:
        print(_table(results))


def _table(results: Sequence[dict[str, Any]]) -> str:
    head = "| scale | " + " | ".join(f"{result['paragraphs']:,} paragraphs" for result in results) + " |\n|---|"
    lines = [
        f"| {name} | " + " | ".join(form.format(result[key]) for result in results) + " |" for name, key, form in ROWS
    ]
    return "\n".join([head + "--:|" * len(results), *lines])


if __name__ == "__main__":
    main()
