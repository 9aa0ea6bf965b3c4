"""Commands that run services: `demo`, and its parts `worker`, `gateway`, `desk`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click
from pydantic import ValidationError

from core.errors import BadInput, describe_errors
from core.lifecycle import StageName
from core.settings import DeskSettings, Settings, Token
from rejoinder.commands.process import drafting_with, load_settings, run_until_stopped, start_logging


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), help="Port of the page; 0 takes a free one.  [default: 8080]")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Folder for ledger, logs and secrets.")
@click.option("--samples/--no-samples", default=True, show_default=True, help="Send sample posts through the stream.")
@click.option("--token", help="Bearer token of the page and the API; without it one is made and kept.")
@click.option("--chat-model", metavar="NAME|none", help="Let this model draft; `none`: words on file alone.")
def demo(port: int | None, data_dir: Path | None, samples: bool, token: str | None, chat_model: str | None) -> None:
    """Run everything on this machine, with sample posts."""
    from bot.web.application import page_address
    from rejoinder.assembly import starts_chat_server
    from rejoinder.commands.models import fetch, fetch_larger_model
    from rejoinder.demo import run_demo

    settings = demo_settings(port, data_dir, token, chat_model)
    start_logging(settings)
    if starts_chat_server(settings):
        fetch(settings, settings.chat.model)
    if settings.triage.reread:
        fetch_larger_model(settings)
    (name, entry) = next(iter(settings.desk.tokens.items()))

    def announce(actual_port: int, bootstrap: str) -> None:
        host, secret = settings.desk.host, entry.token.get_secret_value()
        click.echo(f"\n  The desk:  {page_address(host, actual_port, secret)}   (signed in as {name})")
        click.echo(
            f"  The API:   {page_address(host, actual_port)}v1/flags   with  Authorization: Bearer <the token above>"
        )
        click.echo(f"  Kafka:     {bootstrap}   (REJOINDER_KAFKA__BOOTSTRAP={bootstrap} rejoinder ingest FILE)")
        click.echo(f"  Logs:      {settings.data_dir / 'logs'}\n  Ctrl-C ends it; every case is kept.\n")

    run_until_stopped(lambda stop: run_demo(settings, samples=samples, announce=announce, stop=stop))


def demo_settings(port: int | None, data_dir: Path | None, token: str | None, chat_model: str | None) -> Settings:
    """Return the settings with the demo's options applied, and always with a token."""
    from core.secrets import kept_secret

    settings = load_settings(data_dir=data_dir)
    desk = settings.desk.model_dump(exclude={"tokens"})
    if port is not None:
        desk["port"] = port
    tokens = dict(settings.desk.tokens)
    if token or not tokens:
        secret = token or kept_secret(settings.data_dir / "demo.token")
        tokens = {"moderator": _token(secret), **{name: entry for name, entry in tokens.items() if name != "moderator"}}
    settings = drafting_with(settings, chat_model)
    return load_settings(
        data_dir=settings.data_dir.resolve(),
        desk=DeskSettings(**{**desk, "tokens": tokens}),
        chat=settings.chat.model_dump(exclude_none=True),
        draft=settings.draft.model_dump(),
    )


def _token(secret: str) -> Token:
    """Return a lead's token. Raises BadInput, without the secret, if it is too short."""
    try:
        return Token(token=secret, role="lead")
    except ValidationError as error:
        raise BadInput(f"The demo's token can't be used: {describe_errors(error, 'the token')}.") from None


@click.command()
@click.option("--stages", default=",".join(StageName), show_default=True, help="Which stages this worker runs.")
def worker(stages: str) -> None:
    """Run stream stages as a Faust worker."""
    from rejoinder.starting import EX_SOFTWARE, run_stages
    from stream.worker import WorkerDied

    names = [name.strip() for name in stages.split(",") if name.strip()]
    if unknown := [name for name in names if name not in set(StageName)] or ([] if names else ["(none)"]):
        raise click.BadParameter(f"no stage is called {', '.join(unknown)}; the stages are {', '.join(StageName)}")
    settings = load_settings()
    start_logging(settings)
    try:
        run_until_stopped(lambda stop: run_stages(settings, names, stop))
    except WorkerDied:
        sys.exit(EX_SOFTWARE)


@click.command()
def gateway() -> None:
    """Take flags in over HTTP and hand them to Kafka."""
    serve(gateway_on=True, desk_on=False)


@click.command()
def desk() -> None:
    """Serve the moderators' page and API, publish what they approved, and sweep up what got stuck."""
    serve(gateway_on=False, desk_on=True)


def serve(*, gateway_on: bool, desk_on: bool) -> None:
    """Serve the chosen parts until told to stop."""
    settings = load_settings()
    start_logging(settings)

    async def body(stop: asyncio.Event) -> None:
        from rejoinder.starting import answer_while_starting, wait_for_ledger
        from rejoinder.web import web_process
        from stream.producer import Producer
        from stream.signing import Signatures

        async with (
            answer_while_starting(settings.desk.host, settings.desk.port) as leave,
            wait_for_ledger(settings, stop) as ledger,
        ):
            if ledger is None:
                return
            async with (
                # The gateway sends only flags, so the signing key stays away from a process that faces the internet.
                Producer(settings.kafka, Signatures.of(settings) if desk_on else None) as producer,
                web_process(settings, ledger, producer, gateway=gateway_on, desk=desk_on, before_serving=leave) as port,
            ):
                click.echo(f"listening on http://{settings.desk.host}:{port}")
                await stop.wait()

    run_until_stopped(body)
