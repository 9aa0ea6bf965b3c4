"""`rejoinder evaluate people`."""

from __future__ import annotations

from pathlib import Path

import click

from core.errors import BadInput
from evaluation.commands.shared import RUN, tell_memory
from evaluation.lines import append_lines
from evaluation.run import RunFolder
from rejoinder.commands.extras import needs_extra

_COMPLAINTS_SHOWN = 5


@click.command("people")
@click.argument("run", type=RUN)
@click.option("--posts", default=10, show_default=True, type=click.IntRange(1), help="Posts whose replies are rated.")
@click.option(
    "--collect", type=click.Path(exists=True, path_type=Path), multiple=True,
    help="Files, or folders of files, that raters sent back; repeatable.",
)  # fmt: skip
def people_command(run: Path, posts: int, collect: tuple[Path, ...]) -> None:
    """Write blind rating forms for RUN, or with --collect count what came back."""
    folder = RunFolder.open(run)
    with needs_extra("evaluate"):
        from evaluation.people.collecting import read_ratings, summarise
        from evaluation.people.forms import read_key, write_forms
    if not collect:
        html, sheet = write_forms(folder, posts)
        click.echo(f"The form: {html.resolve()}\nAs a sheet: {sheet.resolve()}")
        click.echo(f"Keep {folder.path / 'people' / 'key.json'} to yourself: it says which system wrote what.")
        tell_memory()
        return
    key = read_key(folder)
    paths = [file for path in collect for file in (sorted(path.glob("*.csv")) if path.is_dir() else [path])]
    returned = read_ratings(paths, key)
    for complaint in returned.complaints[:_COMPLAINTS_SHOWN]:
        click.echo(complaint, err=True)
    if not returned.ratings:
        raise BadInput(f"{', '.join(map(str, collect))} holds no answer to this form; a folder's .csv files are read.")
    summary = summarise(returned.ratings, key, folder.manifest().seed)
    ratings = folder.path / "people" / "ratings.jsonl"
    ratings.unlink(missing_ok=True)
    append_lines(ratings, returned.ratings)
    written = folder.write_json("people.json", summary)
    click.echo(f"{len(returned.ratings)} answers of {len(summary['raters'])} raters: {written}")
    if returned.complaints:
        click.echo(f"{len(returned.complaints)} answers could not be used.", err=True)
    if summary["inattentive"]:
        click.echo(f"Left out for a failed check: {', '.join(summary['inattentive'])}.")
