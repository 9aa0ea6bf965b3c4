"""Helpers that the commands share: argument types, a progress bar, and the peak of memory."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

RUN = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
SEED = 14


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Callable[..., None]]:
    """Show a progress bar on standard error; yields a function that advances it by one or more steps."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda steps=1: bar.advance(task, steps)


def tell_memory() -> None:
    """Print this process's peak memory use."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = peak / (1 << 20) if sys.platform == "darwin" else peak / (1 << 10)
    click.echo(f"At most {megabytes:,.0f} MB of memory were used.")


def listed(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Return the distinct names in a comma-separated list, as an option's callback."""
    return tuple(dict.fromkeys(name.strip() for name in (text or "").split(",") if name.strip()))
