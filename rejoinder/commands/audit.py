"""`rejoinder audit`: verify that the histories are as they were written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rejoinder.commands.process import load_settings, run, start_logging

if TYPE_CHECKING:
    from ledger.audit import AuditReport


@click.group()
def audit() -> None:
    """Look at what the ledger says of itself."""


@audit.command()
@click.option("--case", metavar="PLATFORM/POST_ID", help="One case; else all of them, and the tombstones.")
def verify(case: str | None) -> None:
    """Verify the histories of cases; print the first break, and end with exit code 1 when there is one."""
    from rejoinder.assembly import open_ledger

    settings = load_settings()
    start_logging(settings)

    async def body() -> AuditReport:
        async with open_ledger(settings) as ledger:
            return await ledger.audit.verify(case)

    report = run(body())
    click.echo(
        f"{report.transitions} transitions of {report.cases} cases looked at, {report.erased} of them erased; "
        f"{report.pruned} tombstones; {report.unchained} transitions from before there was a chain"
    )
    if report.broken is not None:
        raise click.ClickException(f"broken: {report.broken}")
    click.echo("all as it was written")
