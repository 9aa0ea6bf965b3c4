"""`rejoinder bench`: measure speed on this machine."""

from __future__ import annotations

import asyncio
import os
import platform
from datetime import UTC, datetime

import click


@click.command()
@click.option("--posts", default=600, show_default=True, help="Posts for the throughput runs.")
@click.option(
    "--model", default="qwen2.5-coder-1.5b", show_default=True, help="Model for the first-draft run, or none."
)
def bench(posts: int, model: str) -> None:
    """Measure throughput, start-up and memory on this machine, and print a table."""
    from evaluation.bench.speed import measure

    rows = asyncio.run(measure(posts, model))
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    click.echo(f"\n{datetime.now(UTC):%Y-%m-%d}, {machine}\n")
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        click.echo(f"| {name:<{width}} | {value:>12} |")
