"""`rejoinder stress`: run the whole loop under load and faults; the exit code tells whether a limit was exceeded."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from pathlib import Path

import click

_COUNT = click.IntRange(min=0)
_SECONDS = click.FloatRange(min=0.1)
_SMALL_DISK_B = 4 << 30


@click.command()
@click.option("--flags", default=200, show_default=True, type=click.IntRange(min=1), help="Flags to send.")
@click.option("--rate", default=20.0, show_default=True, type=_SECONDS, help="Flags a second.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(min=1), help="Worker processes.")
@click.option("--desks", default=2, show_default=True, type=click.IntRange(min=1), help="Desks, each a publisher too.")
@click.option("--moderators", default=6, show_default=True, type=click.IntRange(min=2), help="Scripted moderators.")
@click.option("--decisions", default=100, show_default=True, type=_COUNT, help="Cases that they decide on.")
@click.option("--collisions", default=10, show_default=True, type=_COUNT, help="Of these, by two at once.")
@click.option("--kills", default=0, show_default=True, type=_COUNT, help="SIGKILLs of workers, desks and gateway.")
@click.option("--pauses", default=0, show_default=True, type=_COUNT, help="SIGSTOPs of desks and workers.")
@click.option("--broker-outages", default=0, show_default=True, type=_COUNT, help="Cuts and stalls of Kafka's wire.")
@click.option("--database-outages", default=0, show_default=True, type=_COUNT, help="The same for the ledger.")
@click.option("--disk-fills", default=0, show_default=True, type=_COUNT, help="Fill the small disk of --folder.")
@click.option("--chat-model", default="none", show_default=True, help="Draft with a model, by `locked`.")
@click.option("--model-kills", default=0, show_default=True, type=_COUNT, help="SIGKILLs of the model's server.")
@click.option("--outage-s", default=20.0, show_default=True, type=_SECONDS, help="Length of an outage.")
@click.option("--skew-s", default=0.0, show_default=True, type=float, help="Let every second desk's clock go wrong.")
@click.option("--settle-s", default=300.0, show_default=True, type=_SECONDS, help="Wait at most so long at the end.")
@click.option("--database", default="sqlite", show_default=True, type=click.Choice(["sqlite", "postgres"]))
@click.option("--own-cluster", is_flag=True, help="Use the Kafka of the settings, with topics of the run's own.")
@click.option("--seed", default=1, show_default=True, help="Draws decisions and victims.")
@click.option("--folder", type=click.Path(path_type=Path), help="Keep ledger and logs here.")
@click.option("--limit-p95-s", type=_SECONDS, help="Fail if 95 % of the flags take longer to reach moderators.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def stress(limit_p95_s: float | None, as_json: bool, **options: object) -> None:
    """Send flags, decide on them and break things meanwhile; fail if anything is lost, doubled or not as approved.

    Starts a family of its own on loopback: nothing that runs is touched. Exit code 1 says that a limit was passed.
    """
    from evaluation.stress import report
    from evaluation.stress.plan import StressPlan
    from evaluation.stress.run import run

    plan = StressPlan(**options)  # type: ignore[arg-type]
    if plan.collisions > plan.decisions:
        raise click.BadParameter(f"{plan.collisions} collisions among {plan.decisions} decisions can't be had")
    if plan.own_cluster and plan.broker_outages:
        raise click.BadParameter("the wire to a cluster of your own is not ours to cut; leave --broker-outages out")
    if plan.model_kills and plan.chat_model == "none":
        raise click.BadParameter("there is no model's server to kill; choose a --chat-model")
    if plan.disk_fills:
        _check_disk(plan.folder)
    finished = asyncio.run(run(plan))
    click.echo(json.dumps(report.as_json(finished), indent=1) if as_json else report.as_table(finished))
    if failures := finished.failures(limit_p95_s):
        click.echo("\nNot passed: " + "; ".join(failures), err=True)
        sys.exit(1)


def _check_disk(folder: Path | None) -> None:
    """Raise click.BadParameter unless the folder exists on a small disk, as others would run out of space on theirs."""
    if folder is None or not folder.is_dir() or shutil.disk_usage(folder).total > _SMALL_DISK_B:
        raise click.BadParameter(
            "--disk-fills fills the file system under --folder to its last byte: make a small one for it, for example "
            "with mount -t tmpfs -o size=1g tmpfs /mnt/stress, and give --folder /mnt/stress"
        )
