"""`rejoinder train reranker`: tune a cross-encoder that orders evidence. Needs the `train` extra."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from core.errors import BadInput
from core.settings import Settings
from kb.claims.loading import load_claims
from kb.claims.records import Language
from rejoinder.commands.extras import needs_extra
from rejoinder.commands.process import load_settings

if TYPE_CHECKING:
    from training.reranking.measure import Ordering
    from training.reranking.pairs import RankingQuestion

FOLDER = "rerankers"
SOME = 50
"""Fewest training questions that are measured too: a loss that falls only on these was memorised."""
_DEFAULT_MODEL = "BAAI/bge-reranker-v2-m3"


@click.command()
@click.option("--name", default="claims", show_default=True, help="Name of what is learned.")
@click.option("--model", default=_DEFAULT_MODEL, show_default=True, help="Base cross-encoder: a folder or a hub name.")
@click.option(
    "--data", type=click.Path(file_okay=False, path_type=Path), help="Folder with `datasets`: more graded posts."
)
@click.option(
    "--languages",
    default=",".join(get_args(Language)),
    show_default=True,
    help="Languages of the wordings learned from.",
)
@click.option("--questions", type=click.IntRange(1), default=2_000, show_default=True, help="Wordings to learn from.")
@click.option("--epochs", default=1.0, show_default=True)
@click.option("--most-steps", default=0, help="Stop after so many steps; 0: after the epochs.")
@click.option("--rate", default=1e-5, show_default=True, help="Learning rate.")
@click.option("--seed", default=1, show_default=True)
@click.option("--replace", is_flag=True, help="Overwrite a reranker of this name.")
def reranker(
    name: str,
    model: str,
    data: Path | None,
    languages: str,
    questions: int,
    epochs: float,
    most_steps: int,
    rate: float,
    seed: int,
    replace: bool,
) -> None:
    """Tune a cross-encoder by InfoNCE on claims and facts on file, and file it with a card.

    It is measured before and after, on claims that were held out and on posts with graded texts. A run that was cut
    off goes on. What was learned serves only once `kb.reranker` is `bge` and `kb.reranker_model` its folder.
    """
    if not name.replace("-", "").replace("_", "").isalnum():
        raise click.UsageError("--name may have letters, digits, `-` and `_`")
    known = get_args(Language)
    chosen = [language for language in known if language in languages.split(",")]
    if len(chosen) != len(set(languages.split(","))):
        raise click.UsageError(f"--languages may be some of {', '.join(known)}")
    settings = load_settings()
    folder = _folder(settings, name, replace)
    # Must be set before the import: otherwise the libraries report to their hub what runs here.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    with needs_extra("train"):
        from training.reranking.train import Options, tune
    from training.reranking.card import CARD, Orderings, Origin, reranker_card

    learned, measured, by_e5 = asyncio.run(_prepare(chosen, questions, seed, data))
    tuned = tune(Options(model, folder, seed, epochs, most_steps, rate), learned, measured)
    figures = {part: Orderings(by_e5[part], before, after) for part, (before, after) in tuned.items()}
    origin = Origin(model, len(learned), chosen, seed, epochs, most_steps, rate)
    card = reranker_card(name, origin, folder / "model", figures)
    (folder / CARD).write_text(card, encoding="utf-8")
    click.echo(card)
    click.echo(
        "Read the card. To order evidence by it, set REJOINDER_KB__RERANKER=bge and "
        f"REJOINDER_KB__RERANKER_MODEL={folder / 'model'}, and start the workers again."
    )


def _folder(settings: Settings, name: str, replace: bool) -> Path:
    """Return the folder of a reranker, created if it is missing; raises BadInput for a name that is taken."""
    from core.private_files import private_folder
    from training.reranking.card import CARD

    folder = settings.data_dir / FOLDER / name
    if (folder / CARD).exists():
        if not replace:
            raise BadInput(f"A reranker {name!r} is on file already. Give another --name, or --replace.")
        shutil.rmtree(folder)
    private_folder(folder)
    return folder


async def _prepare(
    languages: Sequence[Language], most: int, seed: int, data: Path | None
) -> tuple[list[RankingQuestion], dict[str, list[RankingQuestion]], dict[str, Ordering]]:
    """Return the questions to train on, those to measure on by part, and how well e5 orders the latter."""
    from models.embedders import default_embedder
    from training.reranking.measure import measure_embedder
    from training.reranking.pairs import filed_questions, graded_questions

    files, embedder = load_claims(), default_embedder()
    try:
        learned, held_out = await filed_questions(files, languages, most, seed, embedder)
        measured = {
            "claims learned from": learned[: max(SOME, len(held_out))],
            "held-out claims": held_out,
            "graded posts": graded_questions(files, data),
        }
        by_e5 = {part: await measure_embedder(questions, embedder) for part, questions in measured.items()}
        return learned, measured, by_e5
    finally:
        await embedder.close()
