"""`rejoinder kb review`: have speakers of a language review the texts on file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from core.errors import BadInput
from core.settings import Settings
from kb.claims.records import Language
from rejoinder.commands.process import load_settings

if TYPE_CHECKING:
    from kb.claims.reviews import Reviews

LANGUAGE = click.Choice(["es", "it", "eu"])
SHEET = click.Path(dir_okay=False, path_type=Path)


@click.group()
def review() -> None:
    """Have speakers read the counter-claims, facts and claims in their language."""


@review.command()
@click.argument("language", type=LANGUAGE)
@click.argument("sheet", type=SHEET)
def export(language: Language, sheet: Path) -> None:
    """Write what nobody has read in LANGUAGE to SHEET (.csv), beside the English sentences."""
    from kb.claims.loading import load_claims
    from kb.claims.sheets import lines, write_sheet

    settings = load_settings()
    listed = lines(load_claims(settings.kb.claims), language, _reviews(settings))
    write_sheet(sheet, listed)
    click.echo(f"{len(listed)} sentences are in {sheet}. Put x under `good`, or a better sentence under `better`.")


@review.command()
@click.argument("language", type=LANGUAGE)
@click.argument("sheet", type=SHEET)
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), help="Instead of kb.claims.")
def take(language: Language, sheet: Path, folder: Path | None) -> None:
    """Take over a marked SHEET: good sentences are no longer provisional; better ones are listed with their place."""
    from kb.claims.loading import load_claims
    from kb.claims.reviews import FILE, Reviews, load_reviews, write_reviews
    from kb.claims.sheets import lines, read_sheet

    settings = load_settings()
    own = _folder(settings, folder)
    marked = read_sheet(sheet)
    on_file = {line.sentence for line in lines(load_claims(settings.kb.claims), language, Reviews())}
    known = [sentence for sentence in marked.good if sentence in on_file]
    reviews = load_reviews(own).with_read((sentence, language) for sentence in known)
    path = own / "claims" / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(write_reviews(reviews), encoding="utf-8")
    for line in marked.corrections:
        click.echo(f"{line.place}: {line.entry}, {line.what}:\n  - {line.sentence}\n  + {line.better}")
    if unknown := [sentence for sentence in marked.good if sentence not in on_file]:
        click.echo(
            f"{len(unknown)} marked sentences are not on file, such as {unknown[0]!r}. They were changed since the "
            "export, or the sheet was saved in another encoding: save it as UTF-8, or export it again.",
            err=True,
        )
    click.echo(f"{len(known)} reviewed ({path}), {len(marked.corrections)} to be corrected by hand.")


def _reviews(settings: Settings) -> Reviews:
    from kb.claims.reviews import load_reviews

    shipped = load_reviews(files("kb"))
    return shipped | load_reviews(settings.kb.claims) if settings.kb.claims else shipped


def _folder(settings: Settings, given: Path | None) -> Path:
    own = given or settings.kb.claims
    if own is None:
        raise BadInput("There is no folder to keep reviews in. Set kb.claims, or give --folder.")
    return own
