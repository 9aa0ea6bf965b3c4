"""`rejoinder kb claims`: what posts claim, and the sentences and facts on file that answer it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from core.domain import AttackKind, CaseState, Intent, TargetGroup, now
from core.errors import BadInput
from core.settings import Settings
from kb.claims.records import LANGUAGES, Language
from rejoinder.commands.process import load_settings, run, start_logging

if TYPE_CHECKING:
    from kb.claims.gaps import Gap, Unanswered
    from kb.claims.loading import ClaimFiles
    from ledger import Ledger

GAPS = (CaseState.PENDING, CaseState.REJECTED, CaseState.APPROVED, CaseState.RELEASED)
"""States of cases that reached a moderator; of these, cases with evidence that were not rejected are no gap."""
GROUPS = click.Choice([group.value for group in TargetGroup])


@click.group()
def claims() -> None:
    """List, check and extend the claims on file."""


@claims.command("list")
@click.option("--group", type=GROUPS, help="Only this group's.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_claims(group: str | None, as_json: bool) -> None:
    """List the claims with the number of their wordings, counter-claims and facts."""
    files = _files()
    rows = [row for row in _rows(files) if group in (None, row["group"])]
    if as_json:
        click.echo(json.dumps(rows))
        return
    table = Table("group", box=None)
    table.add_column("claim", no_wrap=True)
    for name in ("kind", "what it says", "wordings", "counter-claims", "facts"):
        table.add_column(name)
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console().print(table)
    kinds = Counter(str(row["kind"]) for row in rows)
    click.echo(f"{len(rows)} claims: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))


@claims.command()
@click.option("--links", is_flag=True, help="Look up the addresses of every fact too; needs a network.")
def check(links: bool) -> None:
    """Say what is missing, untranslated, too long, contradictory or unanswered; the exit code is then 1."""
    from kb.claims.checking import problems
    from kb.claims.links import dead_links

    files = _files()
    complaints = [str(problem) for problem in problems(files)]
    if links:
        complaints += run(dead_links(files))
    for complaint in complaints:
        click.echo(complaint)
    summary = f"{len(files.claims)} claims, {len(files.facts)} facts"
    if complaints:
        raise click.ClickException(f"{len(complaints)} problems in {summary}. Correct them and check again.")
    click.echo(f"{summary}: nothing to correct.")


@claims.command()
@click.argument("group", type=GROUPS)
@click.argument("name")
@click.option("--gist", required=True, help="The claim in neutral words, for moderators.")
@click.option("--kind", type=click.Choice([kind.value for kind in AttackKind]), default="claim", show_default=True)
@click.option("--wording", "wordings", multiple=True, required=True, help="How posts put it. Repeatable.")
@click.option("--fact", "facts", multiple=True, required=True, help="Id of a fact that answers it. Repeatable.")
@click.option(
    "--counter",
    "counters",
    multiple=True,
    type=(click.Choice([intent.value for intent in Intent]), str),
    metavar="INTENT SENTENCE",
    help="A sentence that refutes it, with its intent. Repeatable.",
)
@click.option("--language", default="en", show_default=True, type=click.Choice(["en", "es", "it", "eu"]))
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), help="Instead of kb.claims.")
def add(
    group: str,
    name: str,
    gist: str,
    kind: str,
    wordings: tuple[str, ...],
    facts: tuple[str, ...],
    counters: tuple[tuple[str, str], ...],
    language: str,
    folder: Path | None,
) -> None:
    """Write a claim of GROUP called NAME into the own folder (kb.claims), and say what it still lacks."""
    from kb.claims.drafts import ClaimDraft, append

    own = _own_folder(folder)
    draft = ClaimDraft(TargetGroup(group), name, AttackKind(kind), gist, language, wordings, facts, counters)
    path = append(draft, own)
    click.echo(f"{draft.id} is in {path}.")
    _say_what_is_missing(draft.id, own)


SENTENCE: dict[str, Any] = {"multiple": True, "type": (click.Choice(LANGUAGES), str), "metavar": "LANGUAGE SENTENCE"}


@claims.command("add-fact")
@click.argument("group", type=GROUPS)
@click.argument("name")
@click.option("--text", required=True, **SENTENCE, help="What it says, with its source. Once for each language.")
@click.option("--short", required=True, **SENTENCE, help="The same in 140 characters. Once for each language.")
@click.option("--quote", required=True, help="The source's own words, with every figure.")
@click.option("--institution", required=True, help="Who published it.")
@click.option("--title", required=True)
@click.option("--symbol", default="", help="A DOI or the symbol of a document.")
@click.option("--locator", default="", help="Where in the document: a page, a paragraph.")
@click.option("--year", required=True, type=int)
@click.option("--url", required=True, help="The document's address (https).")
@click.option("--seen-at", default="", help="Where you read the quote, if that is elsewhere.")
@click.option("--region", required=True, help="Where it holds, as in kb/facts/glossary.toml.")
@click.option("--kind", type=click.Choice(["finding", "norm", "history"]), default="finding", show_default=True)
@click.option(
    "--strength",
    type=click.Choice(["strong", "fair"]),
    default="fair",
    show_default=True,
    help="Fair if it is contested or from a single study.",
)
@click.option("--secondhand", is_flag=True, help="The quote is from a report about the source.")
@click.option("--speaker", help="Who says it: a key of [speakers] on file. By default the institution.")
@click.option(
    "--speaker-name",
    "speaker_names",
    multiple=True,
    type=(click.Choice(LANGUAGES), str),
    metavar="LANGUAGE NAME",
    help="What sentences in a language call a new speaker, if not the institution's name. Repeatable.",
)
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), help="Instead of kb.claims.")
def add_fact(
    group: str,
    name: str,
    text: tuple[tuple[Language, str], ...],
    short: tuple[tuple[Language, str], ...],
    speaker: str | None,
    speaker_names: tuple[tuple[Language, str], ...],
    folder: Path | None,
    **fields: object,
) -> None:
    """Write a fact about GROUP called NAME into the own folder (kb.claims), and say what it still lacks."""
    from kb.claims.drafts import FactDraft, append_fact, id_of

    own = _own_folder(folder)
    fact = id_of(TargetGroup(group), name)
    fields |= {
        "id": fact,
        "text": _by_language("--text", text),
        "short": _by_language("--short", short),
        "reviewed_at": now().date(),
    }
    draft = FactDraft(TargetGroup(group), fields, speaker, _by_language("--speaker-name", speaker_names))
    click.echo(f"{fact} is in {append_fact(draft, own)}.")
    _say_what_is_missing(fact, own)


def _own_folder(given: Path | None) -> Path:
    own = given or load_settings().kb.claims
    if own is None:
        raise BadInput("There is no folder for own claims. Set kb.claims, or give --folder.")
    return own


def _by_language(option: str, pairs: Sequence[tuple[Language, str]]) -> dict[Language, str]:
    texts = dict(pairs)
    if len(texts) < len(pairs):
        raise BadInput(f"{option} has one language twice. Give each language once.")
    return texts


def _say_what_is_missing(entry: str, own: Path) -> None:
    from kb.claims.checking import problems
    from kb.claims.loading import load_claims

    missing = [problem.message for problem in problems(load_claims(own)) if problem.entry == entry]
    for message in missing:
        click.echo(f"  {message}")
    click.echo(
        "It is used once `rejoinder kb claims check` finds nothing to correct." if missing else "It is complete."
    )


@claims.command()
@click.option("--days", type=click.IntRange(1, 36_500), default=30, show_default=True, help="How far to look back.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def gaps(days: int, as_json: bool) -> None:
    """Show what posts claim that nothing on file answers.

    Taken from cases without evidence and from rejected drafts. Like posts stand together, the commonest first; the
    nearest claim on file tells whether a wording or a whole claim is missing. No post is printed: open the cases by
    their keys.
    """
    settings = load_settings()
    start_logging(settings)
    listed = run(find_gaps(settings, days))
    if as_json:
        click.echo(json.dumps([gap.as_json() for gap in listed]))
        return
    table = Table("posts", "group", "nearest claim", "nearness", "for example", box=None)
    for gap in listed:
        table.add_row(str(gap.count), gap.group, gap.nearest, f"{gap.nearness:.2f}", ", ".join(gap.cases[:2]))
    Console().print(table)
    click.echo(f"Heaps: {len(listed)}. Posts: {sum(gap.count for gap in listed)}.")


async def find_gaps(settings: Settings, days: int) -> Sequence[Gap]:
    """Group the unanswered cases of the last days by similarity."""
    from kb.claims.gaps import heaps
    from rejoinder.assembly import open_claims, open_embedder, open_ledger

    async with open_ledger(settings) as ledger, open_embedder(settings) as embedder:
        matcher = await open_claims(settings, embedder)
        return heaps([post async for post in _unanswered(ledger, days)], matcher)


async def _unanswered(ledger: Ledger, days: int) -> AsyncIterator[Unanswered]:
    from kb.claims.gaps import Unanswered
    from pipeline import vector

    since = now() - timedelta(days=days)
    cursor = None
    while True:
        page = await ledger.cases.page(states=GAPS, limit=200, cursor=cursor, oldest_first=False)
        for case in page.cases:
            if case.received_at < since:
                return
            triage, grounding = case.triage, case.grounding
            without = grounding is not None and (not grounding.evidence or grounding.is_unsure)
            gap = without or case.state is CaseState.REJECTED
            if gap and not case.doubtful and triage and triage.embedding and triage.groups:
                group, embedding = triage.groups[0].group.value, vector.unpack(triage.embedding)
                yield Unanswered(case.key, group, embedding, triage.language)
        cursor = page.next_cursor
        if cursor is None:
            return


def _files() -> ClaimFiles:
    from kb.claims.loading import load_claims

    return load_claims(load_settings().kb.claims)


def _rows(files: ClaimFiles) -> list[dict[str, object]]:
    return [
        {
            "group": files.group_of(claim).value,
            "id": claim.id,
            "kind": claim.kind.value,
            "gist": claim.gist.get("en", next(iter(claim.gist.values()), "")),
            "wordings": sum(map(len, claim.wordings.values())),
            "counter_claims": sum(len(texts) for lines in claim.counter.values() for texts in lines.values()),
            "facts": len(claim.facts),
        }
        for claim in files.claims.values()
    ]
