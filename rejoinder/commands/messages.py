"""Commands that send messages: `ingest`, `dead-letters`."""

from __future__ import annotations

import sys
from typing import BinaryIO

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from core.errors import CaseConflict, MessageTooLarge
from core.settings import Settings
from rejoinder.commands.process import load_settings, run, start_logging

MAX_SHOWN = 10


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option("--bootstrap", help="Broker address, instead of REJOINDER_KAFKA__BOOTSTRAP.")
def ingest(file: BinaryIO, bootstrap: str | None) -> None:
    """Stream a JSONL FILE of flags (or `-`) to Kafka.

    Bad lines are reported with their number and left out; the exit code is then 2. Posts that were sent before change
    nothing.
    """
    from stream.ingest import ingest as stream_in

    settings = load_settings(kafka={"bootstrap": bootstrap} if bootstrap else None)
    start_logging(settings)
    total = size_of(file)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("ingesting", total=total)
        report = stream_in(file, settings.kafka, lambda read: bar.advance(task, read))
    for line, complaint in report.complaints[:MAX_SHOWN]:
        click.echo(f"line {line}: {complaint}", err=True)
    if report.bad > MAX_SHOWN:
        click.echo(f"… and {report.bad - MAX_SHOWN:,} more bad lines", err=True)
    click.echo(f"{report.sent:,} posts sent, {report.bad:,} bad lines left out")
    sys.exit(2 if report.bad else 0)


def size_of(file: BinaryIO) -> int | None:
    """Return a file's size in bytes, or None for a pipe."""
    if not file.seekable():
        return None
    size = file.seek(0, 2)
    file.seek(0)
    return size


@click.group("dead-letters")
def dead_letters() -> None:
    """Look at messages nobody could work on, and send them again."""


@dead_letters.command("list")
def list_() -> None:
    """List the dead letters: where they lie, from which stage, and why."""
    from stream.dead_letters import read_dead_letters

    settings = load_settings()
    start_logging(settings)
    table = Table("place", "when", "stage", "case", "error")

    async def fill() -> None:
        async for item in read_dead_letters(settings.kafka):
            letter = item.letter
            columns = (item.place, f"{letter.at:%Y-%m-%d %H:%M:%S}", letter.stage, letter.key or "–", letter.error)
            table.add_row(*map(escape, columns))

    run(fill())
    Console().print(table if table.row_count else "No dead letters.")


@dead_letters.command()
@click.argument("places", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Send all of them.")
def replay(places: tuple[str, ...], everything: bool) -> None:
    """Send dead letters at PLACES (as `dead-letters list` prints them) to where they came from."""
    from rejoinder.assembly import open_ledger
    from stream.dead_letters import replay as send_again
    from stream.signing import Signatures

    if bool(places) == everything:
        raise click.UsageError("name places, or say --all")
    settings = load_settings()
    start_logging(settings)

    async def body() -> int:
        async with open_ledger(settings) as ledger:
            return len(await send_again(settings.kafka, ledger, Signatures.of(settings), places))

    click.echo(f"{run(body())} dead letters sent again")


@dead_letters.command()
@click.argument("cases", nargs=-1, metavar="[PLATFORM/POST_ID]...")
@click.option("--all", "everything", is_flag=True, help="Send all failed cases on.")
def revive(cases: tuple[str, ...], everything: bool) -> None:
    """Send failed CASES on from what the ledger has, without their dead letters.

    For letters that are gone, or whose signing key was replaced. Cases that took workers down are sent on only if they
    are named. Exit code 1 when a case could not be sent on.
    """
    if bool(cases) == everything:
        raise click.UsageError("name cases, or say --all")
    settings = load_settings()
    start_logging(settings)
    if refused := run(_revive(settings, cases)):
        raise click.ClickException(f"{len(refused)} cases are not sent on: {'; '.join(refused)}")


async def _revive(settings: Settings, cases: tuple[str, ...]) -> list[str]:
    """Send these failed cases, or all, again; print how many were sent and return why others were not."""
    from rejoinder.assembly import open_ledger
    from stream.failed_cases import failed_cases, revive
    from stream.producer import Producer
    from stream.signing import Signatures
    from stream.topics import Topics

    topics, revived, refused = Topics(settings.kafka.prefix), 0, []
    async with open_ledger(settings) as ledger, Producer(settings.kafka, Signatures.of(settings)) as producer:
        try:
            for key in cases or [key async for key in failed_cases(ledger)]:
                try:
                    await revive(ledger, producer, topics, key, though_deadly=bool(cases))
                    revived += 1
                except (CaseConflict, MessageTooLarge) as error:
                    refused.append(str(error))
        finally:  # also if the broker or the ledger became unavailable meanwhile
            click.echo(f"{revived} failed cases sent on")
    return refused
