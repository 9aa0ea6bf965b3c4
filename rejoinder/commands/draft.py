"""`rejoinder draft`: answer one post in the terminal, without Kafka."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from core.domain import Check, Draft, DraftRequest, FlaggedPost, Grounding, Intent, Route, StrategyName, Triage
from core.errors import BadInput, describe_errors
from core.lifecycle import goes_on
from core.settings import Settings
from rejoinder.commands.process import drafting_with, given_text, load_settings, run, start_logging

UNPRINTED = {"embedding", "summed", "reread", "plan", "candidates"}
"""Internal fields of triage, grounding and draft, which the JSON leaves out."""


@click.command()
@click.argument("text")
@click.option("--intent", type=click.Choice([intent.value for intent in Intent]), help="What the reply sets out to do.")
@click.option("--language", help="The post's language (ISO 639-1), when you know it.")
@click.option("--platform", default="terminal", show_default=True, help="Whose length limit holds.")
@click.option("--chat-model", metavar="NAME|none", help="Let this model draft; `none`: words on file alone.")
@click.option("--strategy", type=click.Choice([name.value for name in StrategyName]), help="What drafts the reply.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def draft(
    text: str,
    intent: str | None,
    language: str | None,
    platform: str,
    chat_model: str | None,
    strategy: str | None,
    as_json: bool,
) -> None:
    """Draft an answer to one post, given as TEXT, or on standard input where TEXT is `-`."""
    settings = drafting_with(load_settings(), chat_model, StrategyName(strategy) if strategy else None)
    start_logging(settings)
    post = read_post(given_text(text), language, platform)
    prepare(settings)
    request = DraftRequest(intent=Intent(intent) if intent else settings.desk.default_intent)
    triage, grounding, answer = run(answer_post(settings, post, request))
    if as_json:
        parts = {"triage": triage, "grounding": grounding, "draft": answer}
        click.echo(
            json.dumps({name: part and part.model_dump(mode="json", exclude=UNPRINTED) for name, part in parts.items()})
        )
    else:
        show(Console(), triage, grounding, answer)


def read_post(text: str, language: str | None, platform: str) -> FlaggedPost:
    """Return the post. Raises BadInput if it is empty or too long."""
    from pydantic import ValidationError

    try:
        return FlaggedPost(platform=platform, post_id="1", text=text, language=language)
    except ValidationError as error:
        raise BadInput(f"The post can't be used: {describe_errors(error)}.") from error


def prepare(settings: Settings) -> None:
    """Fetch the weights if they are needed and missing."""
    from rejoinder.assembly import starts_chat_server

    if starts_chat_server(settings):
        from rejoinder.commands.models import fetch

        fetch(settings, settings.chat.model)


async def answer_post(
    settings: Settings, post: FlaggedPost, request: DraftRequest
) -> tuple[Triage, Grounding | None, Draft | None]:
    """Run the pipeline on one post; evidence and draft are None if triage decides that it gets no reply."""
    from rejoinder.assembly import open_pipeline

    log_file = Path(settings.data_dir) / "logs" / "chat-server.log"
    async with open_pipeline(settings, log_file=log_file) as pipeline:
        assert pipeline.triager and pipeline.grounder and pipeline.drafter
        triage = await pipeline.triager.triage(post)
        if not goes_on(triage.route):
            return triage, None, None
        grounding = await pipeline.grounder.ground(post, triage, last_attempt=True)
        # Running this command already answers whether a post in doubt deserves a draft, and so does unsure evidence.
        asked_for = triage.model_copy(update={"route": Route.DRAFT})
        answer = await pipeline.drafter.draft(post, asked_for, grounding.requested(), request, last_attempt=True)
        return triage, grounding, answer


def show(console: Console, triage: Triage, grounding: Grounding | None, answer: Draft | None) -> None:
    """Print the results for a person."""
    groups = ", ".join(f"{score.group.value} ({score.score:.0%})" for score in triage.groups) or "nobody in particular"
    console.print(f"[bold]Attacks[/] {groups} · hate {triage.hate:.0%} · language {triage.language}", highlight=False)
    console.print(f"[bold]Triage[/]  {triage.route.value}: {triage.reason}", highlight=False, markup=True)
    if answer is None:
        return
    console.print()
    console.print(answer.text or "(no draft)", style="bold green", highlight=False, markup=False)
    if answer.note:
        console.print(answer.note, style="yellow", highlight=False, markup=False)
    console.print(f"by {answer.origin.value} {answer.model}, {answer.intent.value}\n", style="dim", highlight=False)
    for number, item in enumerate(grounding.evidence if grounding else (), start=1):
        source = item.source
        console.print(f"[{number}] {item.text}", highlight=False, markup=False)
        where = f"    {source.institution}: {source.title}, {source.symbol}, {source.locator} ({source.year})"
        console.print(f"{where}\n    {source.url}", style="dim", highlight=False, markup=False)
    table = Table("check", "passed", "value", "limit", box=None)
    for check in answer.checks:
        table.add_row(check.name, _outcome(check), f"{check.value:.2f}", f"{check.threshold:.2f}")
    console.print(table)


def _outcome(check: Check) -> str:
    return "yes" if check.passed else "NO" if check.hard else "advice"
