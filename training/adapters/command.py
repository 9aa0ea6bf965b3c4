"""`rejoinder train sft|dpo|ppo|export-adapter|try-adapter`: tune a chat model. All but the last need an extra."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from rejoinder.commands.extras import needs_extra
from rejoinder.commands.process import drafting_with, load_settings, start_logging
from training.decisions.records import EXAMPLES, PREFERENCES

_FOLDER = click.Path(file_okay=False, path_type=Path)
_BASE = click.Path(exists=True, path_type=Path)
F = TypeVar("F", bound=Callable[..., Any])


def tunes(command: F) -> F:
    """Add the arguments that the three steps share: PAIRS, the base model, an adapter to continue, training options."""
    for option in (
        click.option("--rank", default=16, show_default=True, help="Rank of a new adapter."),
        click.option("--rate", default=1e-4, show_default=True, help="Learning rate."),
        click.option("--most-steps", default=0, help="Stop after so many steps; 0: after the epochs."),
        click.option("--epochs", default=1.0, show_default=True),
        click.option("--seed", default=1, show_default=True),
        click.option("--out", type=_FOLDER, required=True, help="Folder for adapter, checkpoints and card."),
        click.option("--adapter", type=_FOLDER, help="Adapter to go on from, such as the one of the step before."),
        click.option(
            "--model", required=True, help="Base model: a folder in transformers' format, a GGUF file, or a hub name."
        ),
        click.argument("pairs", type=click.Path(file_okay=False, exists=True, path_type=Path)),
    ):
        command = option(command)
    return command


@click.command()
@tunes
def sft(**given: Any) -> None:
    """Tune a model to write what moderators sent, in the folder PAIRS of `rejoinder train pairs`."""
    _tune("sft", EXAMPLES, given)


@click.command()
@tunes
def dpo(**given: Any) -> None:
    """Tune a model to prefer what moderators preferred, in the folder PAIRS of `rejoinder train pairs`."""
    _tune("dpo", PREFERENCES, given)


@click.command()
@tunes
def ppo(**given: Any) -> None:
    """Tune a model for CoARL's reward (stance, argument quality, safety) on the posts in the folder PAIRS."""
    _tune("ppo", EXAMPLES, given)


@click.command("export-adapter")
@click.argument("adapter", type=click.Path(file_okay=False, exists=True, path_type=Path))
@click.option("--base", type=_BASE, required=True, help="Base model: a folder in transformers' format, or a GGUF file.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="GGUF file to write.")
def export_adapter(adapter: Path, base: Path, out: Path) -> None:
    """Write an adapter as a GGUF LoRA, which `llama-server --lora FILE` loads and each request can weigh."""
    with needs_extra("train"):
        from training.adapters.gguf_lora import export
    from training.adapters.base import configuration

    click.echo(f"{out}: {export(adapter, configuration(base), out)} tensors")


@click.command("try-adapter")
@click.argument("adapter", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.argument("posts", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option("--chat-model", metavar="NAME", help="Its base model, by its name in the catalog; unset: `chat.model`.")
@click.option("--out", type=_FOLDER, required=True, help="The run's folder, for `rejoinder evaluate`.")
@click.option("--seed", default=1, show_default=True, help="Seeds the replies, judges' pairs and resampling.")
def try_adapter(adapter: Path, posts: Path, chat_model: str | None, out: Path, seed: int) -> None:
    """Draft for POSTS with a model alone, and with the GGUF file ADAPTER on top, one server for both.

    POSTS is a file as `rejoinder evaluate generate` reads it; none of them should have been learned from. Both get the
    question that `sft` teaches, without evidence and without the guard: it is the adapter that is measured.
    """
    from evaluation.commands.shared import progress
    from evaluation.posts.reading import read_posts
    from evaluation.run import RunFolder
    from rejoinder.commands.draft import prepare
    from training.adapters import trial

    settings = drafting_with(load_settings(), chat_model)
    start_logging(settings)
    unseen = read_posts(posts).posts
    prepare(settings)
    run = RunFolder.create(out, unseen, trial.systems(settings.chat.model, adapter), seed, settings)
    with progress("drafting", 2 * len(unseen)) as advance:
        asyncio.run(trial.try_adapter(run, unseen, adapter, settings, advance))
    click.echo(f"Drafts of both: {run.drafts_path}. Next: rejoinder evaluate score {out}")


def _tune(step: str, data: str, given: dict[str, Any]) -> None:
    # Must be set before the import: otherwise the libraries report to their hub what runs here.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    with needs_extra("train"):
        from training.adapters.steps import STEPS, Options
    from training.adapters.card import adapter_card

    options = Options(**given)
    result = STEPS[step](options)
    card = adapter_card(step, options, result, options.pairs / data)
    (options.out / "card.md").write_text(card, encoding="utf-8")
    click.echo(card)
