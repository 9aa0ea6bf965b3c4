"""Commands that show how things are: `doctor`, `settings`."""

from __future__ import annotations

import sys

import click

from rejoinder.commands.process import load_settings, run


@click.command()
def doctor() -> None:
    """Say what is missing on this machine, and how to get it."""
    from rejoinder.doctor import examine

    findings = run(examine(load_settings()))
    for finding in findings:
        mark = {"ok": "ok     ", "note": "note   ", "missing": "MISSING"}[finding.verdict]
        click.echo(f"{mark}  {finding.subject}: {finding.detail}")
        if finding.remedy:
            click.echo(f"         {finding.remedy}")
    sys.exit(1 if any(finding.verdict == "missing" for finding in findings) else 0)


@click.command()
@click.option("--markdown", is_flag=True, help="Print the settings reference.")
def settings(markdown: bool) -> None:
    """Print every setting with its present value; secrets stay hidden."""
    from rejoinder.settings_reference import reference

    click.echo(reference() if markdown else load_settings().model_dump_json(indent=2))
