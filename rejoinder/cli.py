"""The command line, `rejoinder …`."""

from __future__ import annotations

import sys

import click

from core.errors import RejoinderError
from rejoinder.commands import data, discord, draft, kb, models, operate, setup, slack


class Program(click.Group):
    """Turn the errors we raise on purpose into one plain line and exit code 1."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except RejoinderError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rejoinder")
def main() -> None:
    """Answer flagged hate with evidence; a human approves every word that leaves."""


for command in (
    operate.demo,
    operate.worker,
    operate.gateway,
    operate.desk,
    discord.discord,
    slack.slack,
    data.ingest,
    data.dead_letters,
    draft.draft,
    kb.kb,
    models.models,
    setup.doctor,
    setup.settings,
):
    main.add_command(command)

if __name__ == "__main__":
    sys.exit(main())
