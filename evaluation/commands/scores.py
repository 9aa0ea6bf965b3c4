"""`rejoinder evaluate score`, and the models it opens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.settings import Settings
from evaluation.commands.shared import RUN, listed, progress, tell_memory
from evaluation.run import RunFolder
from rejoinder.commands.extras import needs_extra
from rejoinder.commands.process import load_settings, start_logging

if TYPE_CHECKING:
    from evaluation.metrics.encoder import Encoder
    from evaluation.metrics.factuality import Support
    from evaluation.metrics.toolbox import Toolbox


@click.command("score")
@click.argument("run", type=RUN)
@click.option("--metrics", callback=listed, help="Names of metrics, as in scores.json; unset: all.")
@click.option("--wordnet", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of WordNet.")
@click.option(
    "--entailment", metavar="URL|FOLDER", help="A chat model's server or an ONNX model's folder: judges entailment."
)
@click.option("--entailment-model", default="default", show_default=True, help="The chat model's name there.")
@click.option(
    "--bertscore-encoder", metavar="FOLDER|NAME", help="Encoder of BERTScore in transformers' format; unset: e5."
)
@click.option("--bertscore-layer", type=int, help="Its layer; unset: the one that bert-score reads, or the last.")
def score_command(
    run: Path,
    metrics: Sequence[str],
    wordnet: Path | None,
    entailment: str | None,
    entailment_model: str,
    bertscore_encoder: str | None,
    bertscore_layer: int | None,
) -> None:
    """Score every draft and every system of RUN."""
    settings = load_settings()
    start_logging(settings)
    models = ScoringModels(wordnet, entailment, entailment_model, bertscore_encoder, bertscore_layer)
    score_all(RunFolder.open(run), settings, metrics, models)


@dataclass(frozen=True)
class ScoringModels:
    """Resources for metrics besides those that are shipped; None leaves a metric out or at its default.

    `wordnet` is WordNet's folder. `entailment` is the URL of a chat model's server, where the model is called
    `entailment_model`, or the folder of an ONNX model. `encoder` is BERTScore's encoder, by folder or hub name, and
    `layer` the layer whose states are compared.
    """

    wordnet: Path | None = None
    entailment: str | None = None
    entailment_model: str = "default"
    encoder: str | None = None
    layer: int | None = None


def score_all(
    run: RunFolder, settings: Settings, metrics: Sequence[str] = (), models: ScoringModels | None = None
) -> None:
    """Score a run, and print which metrics are missing and how much memory was used."""
    models = models or ScoringModels()
    with needs_extra("evaluate"):
        from evaluation.metrics.toolbox import open_metrics
        from evaluation.scoring import score

    async def measure() -> tuple[Toolbox, dict[str, Any]]:
        async with _open_support(models, settings) as support, _open_encoder(models) as encoder:
            toolbox = open_metrics(
                settings, only=metrics, wordnet=models.wordnet, support=support, encoder=encoder,
                seed=run.manifest().seed,
            )  # fmt: skip
            for sentence in toolbox.missing:
                click.echo(sentence, err=True)
            with progress("scoring", None) as advance:
                return toolbox, await score(run, toolbox.metrics, toolbox.missing, advance)

    toolbox, totals = asyncio.run(measure())
    drafts = sum(total["drafts"] for total in totals["systems"].values())
    click.echo(f"{drafts:,} drafts scored by {len(toolbox.metrics)} metrics: {run.totals_path}")
    tell_memory()


@asynccontextmanager
async def _open_support(models: ScoringModels, settings: Settings) -> AsyncIterator[Support | None]:
    """Yield the Support for factuality, None if no model is named.

    A chat model both extracts triplets and judges entailment; with an ONNX model, triplets are extracted by clauses.
    """
    from evaluation.metrics.factuality import Support
    from evaluation.metrics.triplets import ChatTriplets, ClauseTriplets
    from models.chat import ChatClient
    from models.entailment import ChatEntailment, OnnxEntailment

    chat, where = settings.chat, models.entailment
    if where is None:
        yield None
    elif "://" in where:
        name = models.entailment_model
        async with ChatClient(where, name, chat.api_key, chat.timeout_s, chat.attempts) as client:
            yield Support(ChatTriplets(client), ChatEntailment(client, chat.slots), name)
    else:
        guard = settings.guard.model_copy(update={"entailment_model": where})
        yield Support(ClauseTriplets(), OnnxEntailment.open(guard), where)


@asynccontextmanager
async def _open_encoder(models: ScoringModels) -> AsyncIterator[Encoder | None]:
    """Yield BERTScore's encoder, None for the embedded one."""
    from evaluation.metrics.encoder import Encoder

    if models.encoder is None:
        yield None
        return
    encoder = Encoder(models.encoder, models.layer)
    try:
        yield encoder
    finally:
        encoder.close()
