"""`rejoinder data`: export or erase what is stored about a case or an author."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from core.domain import FlaggedPost, now
from core.errors import BadInput, BrokerUnavailable, CaseNotFound, NotAllowed
from core.private_files import keep_private
from core.settings import Settings
from rejoinder.commands.process import load_settings, run, start_logging

if TYPE_CHECKING:
    from ledger import Ledger

F = TypeVar("F", bound=Callable[..., Any])
WHO = "operator"
"""The name under which the history records these commands' erasures."""


@dataclass(frozen=True)
class Subject:
    """The subject of a request: one case, or an author as `(platform, id)`."""

    case: str | None
    author: tuple[str, str] | None

    async def keys(self, ledger: Ledger) -> list[str]:
        """Return the keys of the subject's cases in the ledger; an author may have none."""
        if self.author is not None:
            return await ledger.erasure.cases_of(*self.author)
        return [self.case] if self.case is not None else []

    async def some_keys(self, ledger: Ledger) -> list[str]:
        """Return the keys of the subject's cases. Raises CaseNotFound for an author without any."""
        keys = await self.keys(ledger)
        if not keys and self.author is not None:
            raise CaseNotFound(
                f"The ledger knows no case of this author on {self.author[0]}; erased ones no longer know theirs. Look "
                "at the platform's name and the id, and whether ledger.author_key is that of the cases."
            )
        return keys

    def is_about(self, post: FlaggedPost) -> bool:
        """Tell whether a flag is about a post by the author."""
        return self.author == (post.platform, post.author_id)


def subject_options(command: F) -> F:
    """Add `--case` and `--author` to a command."""
    author = click.option("--author", metavar="PLATFORM/ID", help="An author's id, as the platform sends it.")
    case = click.option("--case", metavar="PLATFORM/POST_ID", help="The key of a case.")
    return case(author(command))


def subject_of(case: str | None, author: str | None) -> Subject:
    """Return the subject of a request. Raises UsageError unless exactly one is given, BadInput for an incomplete id."""
    if (case is None) == (author is None):
        raise click.UsageError("name a --case or an --author")
    if author is None:
        return Subject(case, None)
    platform, _, author_id = author.partition("/")
    if not platform or not author_id:
        raise BadInput(f"{author!r} names no author; write PLATFORM/ID, for example birdsong/4711.")
    return Subject(None, (platform, author_id))


@click.group()
def data() -> None:
    """Export or erase what is held of a case or of an author."""


@data.command()
@subject_options
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write; else standard output.")
@click.option("--ledger-only", is_flag=True, help="Leave out what the topics still hold; needs no broker.")
def export(case: str | None, author: str | None, output: Path | None, ledger_only: bool) -> None:
    """Write everything that is held of a case or of an author, as one JSON object."""
    subject, settings = subject_of(case, author), load_settings()
    start_logging(settings)
    held = json.dumps(run(_held(settings, subject, ledger_only)), indent=2, ensure_ascii=False)
    if output is None:
        click.echo(held)
        return
    try:
        with os.fdopen(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            keep_private(output)
            file.write(held + "\n")
    except OSError as error:
        raise BadInput(f"{output} can't be written ({error.strerror}). Choose another file.") from error
    click.echo(f"written to {output}")


@data.command()
@subject_options
@click.option("--yes", is_flag=True, help="Don't ask.")
def erase(case: str | None, author: str | None, yes: bool) -> None:
    """Erase the texts of a case, or of all cases of an author; their counts and decisions stay.

    Exit code 1 when a case could not be erased yet, because its reply was just being released.
    """
    subject, settings = subject_of(case, author), load_settings()
    start_logging(settings)
    refused = run(_erase(settings, subject, yes))
    if refused:
        raise click.ClickException(f"{len(refused)} cases are not erased: {'; '.join(refused)}")


async def _held(settings: Settings, subject: Subject, ledger_only: bool) -> dict[str, Any]:
    from rejoinder.assembly import open_ledger
    from stream.topic_search import records_about

    async with open_ledger(settings) as ledger:
        keys = await subject.keys(ledger)
        cases = await ledger.holdings.of(keys)
    held: dict[str, Any] = {"made_at": now().isoformat(), "cases": cases}
    if not ledger_only:
        try:
            held["topics"] = [record async for record in records_about(settings.kafka, keys, subject.is_about)]
        except BrokerUnavailable as error:
            raise BrokerUnavailable(f"{error} Or leave out what the topics hold, with --ledger-only.") from error
    return held


async def _erase(settings: Settings, subject: Subject, yes: bool) -> list[str]:
    from rejoinder.assembly import open_ledger

    async with open_ledger(settings) as ledger:
        keys = await subject.some_keys(ledger)
        if not yes:
            click.confirm(f"Erase the texts of {len(keys)} cases? They can't be brought back", abort=True)
        erased, refused = 0, []
        for key in keys:
            try:
                erased += await ledger.erasure.erase(key, WHO, "erased on request")
            except NotAllowed as error:
                refused.append(str(error))
        await ledger.erasure.overwrite()
    kafka = settings.kafka
    days = max(kafka.topics_days, kafka.dead_letters_days)
    click.echo(f"texts of {erased} cases erased; {len(keys) - erased - len(refused)} were erased before")
    by = f"{now() + timedelta(days=days):%Y-%m-%d}"
    click.echo(
        f"Topics made by Rejoinder forget their copies by {by}; running bots blank the cards in their chats; back-ups "
        "are yours to expire."
    )
    return refused
