"""The command line, `rejoinder …`."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, entry_points

import click

from core.errors import RejoinderError
from rejoinder.commands import (
    audit,
    data,
    discord,
    doctor,
    draft,
    kb,
    ledger,
    messages,
    models,
    services,
    settings,
    slack,
)

COMMANDS = "rejoinder.commands"
"""The entry-point group through which packages above this room, such as `evaluation` and `training`, add commands."""


class Program(click.Group):
    """A group of commands that prints RejoinderErrors as one plain line and exits with code 1.

    It also contains the commands from the entry points of installed packages. A command that can't be loaded is listed
    with the reason and does not affect the others.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *entry_points(group=COMMANDS).names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by name, or None; our own take precedence."""
        if command := super().get_command(ctx, cmd_name):
            return command
        return next((_loaded(point) for point in entry_points(group=COMMANDS, name=cmd_name)), None)

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except RejoinderError as error:
            raise click.ClickException(str(error)) from error


def _loaded(point: EntryPoint) -> click.Command:
    """Return an entry point's command, or one that reports why it can't be loaded."""
    try:
        command = point.load()
        if isinstance(command, click.Command):
            return command
        reason = f"{point.value} is no click command"
    except Exception as error:  # whatever another package raises must not break our own commands
        reason = f"{type(error).__name__}: {error}"

    @click.command(
        point.name, short_help=f"(can't be loaded: {reason})", context_settings={"ignore_unknown_options": True}
    )
    @click.argument("arguments", nargs=-1)
    def broken(arguments: tuple[str, ...]) -> None:
        raise click.ClickException(
            f"`{point.name}` can't be loaded ({point.value}): {reason}. Install its package again."
        )

    return broken


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rejoinder")
def main() -> None:
    """Answer flagged hate with evidence; a human approves every word that leaves."""


for command in (
    services.demo,
    services.worker,
    services.gateway,
    services.desk,
    discord.discord,
    slack.slack,
    messages.ingest,
    messages.dead_letters,
    draft.draft,
    kb.kb,
    models.models,
    doctor.doctor,
    settings.settings,
    data.data,
    audit.audit,
    ledger.ledger,
):
    main.add_command(command)

if __name__ == "__main__":
    sys.exit(main())
